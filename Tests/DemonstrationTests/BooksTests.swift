import JSON
import Push
import Testing

@testable import Demonstration

/// What a demonstration tells must be able to be bad news.
@Suite struct BooksTests {
    @Test func `each opening is the first, a duplicate or a stray`() {
        let ledger = Ledger()
        ledger.publish(owedTo: 0b11, at: 1_000_000)
        ledger.publish(owedTo: 0, at: 2_000_000)
        #expect(ledger.open(0, bit: 0b01, at: 4_000_000) == .first)
        #expect(ledger.open(0, bit: 0b01, at: 5_000_000) == .duplicate)
        #expect(ledger.open(1, bit: 0b01, at: 5_000_000) == .stray)
        #expect(ledger.open(2, bit: 0b01, at: 5_000_000) == .stray)
        let balance = ledger.balance()
        #expect(balance.published == 2)
        #expect(balance.owed == 2)
        #expect(balance.opened == 1)
        #expect(balance.underWay == 1)
        #expect(balance.duplicates == 1)
        #expect(balance.strays == 2)
        #expect(ledger.duration == .milliseconds(3))
        #expect(DemoSummary(ledger).lost == 1)
    }

    @Test func `percentiles are values that occurred, by the nearest rank`() {
        var latencies = Latencies()
        #expect(latencies.percentiles() == nil)
        for value in (1...200).reversed() { latencies.add(Int64(value) * 1_000_000) }
        #expect(latencies.percentiles() == Latencies.Percentiles(p50: 100, p99: 198))
        #expect(latencies.percentiles(last: 1) == Latencies.Percentiles(p50: 1, p99: 1))
    }

    @Test(arguments: [
        (1, 1, 0, 0, true), (2, 1, 0, 0, false), (1, 1, 1, 0, false), (1, 1, 0, 1, false),
    ]) func `only a run without loss, duplicates and strays is flawless`(
        owed: Int,
        opened: Int,
        duplicates: Int,
        strays: Int,
        isFlawless: Bool
    ) {
        let ledger = Ledger()
        for event in 0..<owed { ledger.publish(owedTo: 1, at: Int64(event)) }
        for event in 0..<opened { ledger.open(event, bit: 1, at: 1_000_000) }
        for _ in 0..<duplicates { ledger.open(0, bit: 1, at: 1_000_000) }
        for _ in 0..<strays { ledger.noteStray() }
        #expect(DemoSummary(ledger).isFlawless == isFlawless)
    }

    @Test func `the summary has exactly its keys, and null where there is nothing to tell`() {
        let ledger = Ledger()
        ledger.publish(owedTo: 0b1, at: 0)
        var writer = Writer()
        DemoSummary(ledger).write(to: &writer)
        let expected =
            #"{"triggers":1,"notifications":1,"opened":0,"lost":1,"duplicates":0,"seconds":0.0,"p50_ms":null,"p99_ms":null}"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
    }
}
