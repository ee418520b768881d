internal import Glibc
import Testing

@testable import Lanes

struct StatusTests {
    @Test func `a lane is alive as long as it turns`() {
        let status = LaneStatus(index: 0, name: "a-0")
        status.turn(now: 1_000_000_000)
        #expect(status.sinceLastTurn(now: 3_000_000_000) == .seconds(2))
        #expect(status.isAlive(limit: .seconds(2), now: 3_000_000_000))
        #expect(!status.isAlive(limit: .seconds(2), now: 3_000_000_001))
        status.turn(now: 3_000_000_000)
        #expect(status.isAlive(limit: .seconds(2), now: 3_000_000_001))
    }

    @Test func `a lane begins as not ready, and says why it is not`() throws {
        let status = LaneStatus(index: 0, name: "a-0")
        let context = LaneContext(stop: try StopFlag(), status: status)
        #expect(status.condition == .notReady(reason: "starting"))
        context.ready()
        #expect(status.condition == .ready)
        context.notReady("database_away")
        #expect(status.condition == .notReady(reason: "database_away"))
        status.end(.finished)
        #expect(status.condition == .notReady(reason: "finished"))
        #expect(status.isAlive(limit: .zero, now: .max))
    }

    @Test func `a pause turns while it waits, and ends with the flag`() throws {
        let stop = try StopFlag()
        let status = LaneStatus(index: 0, name: "a-0")
        let context = LaneContext(stop: stop, status: status)
        status.turn(now: 0)
        #expect(!context.pause(for: .milliseconds(2)))
        #expect(status.isAlive(limit: .seconds(60)))
        stop.raise()
        #expect(context.pause(for: .seconds(600)))
    }

    @Test func `a raised flag is readable for all who wait, and for ever`() throws {
        let stop = try StopFlag()
        #expect(!stop.isRaised && !stop.wait(for: .zero))
        #expect(!Readiness.wait(for: stop.descriptor, until: Monotonic.deadline(after: .milliseconds(1))))
        stop.raise()
        stop.raise()
        for _ in 0..<3 {
            #expect(stop.isRaised && stop.wait(for: .zero))
            #expect(Readiness.wait(for: stop.descriptor, until: 0))
        }
    }

    @Test func `a wakeup is there until it is cleared, and can come again`() throws {
        let wakeup = try Wakeup()
        wakeup.clear()
        for _ in 0..<2 {
            #expect(!Readiness.wait(for: wakeup.descriptor, until: 0))
            var one: UInt64 = 1
            #expect(unsafe write(wakeup.descriptor, &one, 8) == 8)
            #expect(Readiness.wait(for: wakeup.descriptor, until: 0))
            wakeup.clear()
        }
    }

    @Test(
        arguments: [
            (.zero, 0), (.milliseconds(1), 1_000_000), (.seconds(-1), -1_000_000_000),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
        ] as [(Duration, Int64)]
    )
    func `durations are clamped to nanoseconds that fit`(duration: Duration, nanoseconds: Int64) {
        #expect(Monotonic.nanoseconds(duration) == nanoseconds)
        #expect(Monotonic.deadline(after: .seconds(Int64.max)) == .max)
    }
}
