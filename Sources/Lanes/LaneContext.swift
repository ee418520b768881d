/// What a lane is given: who it is, when to stop, and where to tell how it is.
package struct LaneContext: Sendable {
    package let stop: StopFlag
    private let status: LaneStatus

    init(stop: StopFlag, status: LaneStatus) {
        self.stop = stop
        self.status = status
    }

    /// From 0 to the number of lanes in the group, exclusive.
    package var index: Int { status.index }

    package var name: String { status.name }

    /// Says that a turn begins; the lane counts as stuck when it says so too seldom, so a long wait is made of short ones.
    package func turn() {
        status.turn()
    }

    /// Says that the lane does its work.
    package func ready() {
        status.become(.ready)
    }

    /// Says that the lane cannot do its work now, and why: a code in snake_case, such as `database_away`.
    package func notReady(_ reason: StaticString) {
        status.become(.notReady(reason: reason.description))
    }

    /// Waits, for instance between two attempts, without seeming stuck; true when the lane is to stop.
    package func pause(for duration: Duration) -> Bool {
        let deadline = Monotonic.deadline(after: duration)
        while true {
            turn()
            let left = Duration.nanoseconds(max(0, deadline &- Monotonic.now()))
            if stop.wait(for: min(left, .seconds(1))) { return true }
            if left == .zero { return false }
        }
    }
}
