import Intake
import Testing

@Suite struct PaceTests {
    private let start = ContinuousClock.now

    @Test func `events are due evenly`() {
        var pace = Pace(rate: 10, from: start)
        let waits = (0..<4).map { _ in pace.wait(at: start) }
        #expect(waits == [.zero, .milliseconds(100), .milliseconds(200), .milliseconds(300)])
    }

    @Test func `who was held up catches up a little, not all`() {
        var pace = Pace(rate: 100, from: start)
        _ = pace.wait(at: start)
        let late = start + .seconds(60)
        let waits = (0..<20).map { _ in pace.wait(at: late) }
        // A tenth of a second: ten events at once, then one each hundredth of a second.
        #expect(waits.count { $0 <= .zero } == 11)
        #expect(waits.last == .milliseconds(90))
    }
}
