import Synchronization
import Testing

@testable import Demonstration

@Suite struct ViewTests {
    /// What a screen wrote.
    private final class Written: Sendable {
        private let text = Mutex("")

        var all: String { text.withLock { $0 } }

        func add(_ more: String) { text.withLock { $0 += more } }
    }

    private func figures(_ second: Int64) -> Figures {
        var figures = Figures()
        figures.time = second * 1_000_000_000
        figures.balance.published = Int(second) * 500_000
        figures.balance.owed = figures.balance.published
        figures.delivered = 12_345_678
        figures.requests = 123_456
        figures.balance.recent = Latencies.Percentiles(p50: 0.84, p99: 12_345)
        return figures
    }

    @Test func `the table fits into 80 columns, whatever the numbers`() {
        var live = LiveView(events: 1_000_000, rate: 100_000)
        let isDue = (1...2).map { live.isDue(figures($0), onTerminal: true) }
        #expect(isDue == [true, true])
        let lines = live.table(figures(2), Ink(isUsed: false))
        for line in lines { #expect(line.unicodeScalars.count < 80, "\(line)") }
        #expect(lines[3].hasSuffix("1,000,000       500,000"))
        #expect(lines.last?.hasSuffix("p50 0.8 ms   p99 12,345 ms") == true)
        for line in Picture.lines(Ink(isUsed: false)) { #expect(line.unicodeScalars.count < 80, "\(line)") }
    }

    @Test func `plain lines come once a second and say nothing before the first is over`() {
        var live = LiveView(events: 10, rate: 1)
        let isDue = [1, 1, 2].map { live.isDue(figures($0), onTerminal: false) }
        #expect(isDue == [false, false, true])
        #expect(
            live.line(figures(2)).hasPrefix("  published 1,000,000  sealed 0  delivered 12,345,678  opened 0")
        )
    }

    @Test func `a block is drawn over the one before, in rows that do not wrap`() throws {
        let written = Written()
        var screen = Screen(isTerminal: true, width: 21, colours: true) { written.add($0) }
        try screen.redraw([screen.ink.bold("0123456789") + "abcdefghijklmnop", "second"])
        #expect(
            written.all
                == "\r\u{1b}[1m0123456789\u{1b}[0mabcdefghij\u{1b}[K\n\rsecond\u{1b}[K\n\u{1b}[J"
        )
        try screen.redraw(["third"])
        #expect(written.all.hasSuffix("\u{1b}[2A\rthird\u{1b}[K\n\u{1b}[J"))
        screen.keep()
        try screen.redraw(["fourth"])
        #expect(written.all.hasSuffix("\u{1b}[J\rfourth\u{1b}[K\n\u{1b}[J"))
        try screen.replace(with: ["a line that stays, however long it is"])
        #expect(written.all.hasSuffix("\u{1b}[1A\r\u{1b}[Ja line that stays, however long it is\n"))
    }

    @Test func `without a terminal there are no sequences and no blocks`() throws {
        let written = Written()
        var screen = Screen(isTerminal: false, width: 20, colours: false) { written.add($0) }
        try screen.redraw(["drawn"])
        try screen.lines([screen.ink.bad("a line that is longer than the screen")])
        #expect(written.all == "a line that is longer than the screen\n")
    }
}
