internal import Synchronization

/// What a lane tells the outside about itself; written by the lane, read by whoever asks.
package final class LaneStatus: Sendable {
    package enum Phase: UInt8, Sendable {
        case running
        /// It came to its end as it should.
        case finished
        case failed
    }

    /// Whether the lane does its work now.
    package enum Condition: Sendable, Equatable {
        case ready
        /// The reason is a code in snake_case, such as `database_away`.
        case notReady(reason: String)
    }

    package let index: Int
    /// The group's name and the index, such as `encrypt-0`; also the name of the thread.
    package let name: String

    private let lastTurn = Atomic<Int64>(Monotonic.now())
    private let storedPhase = Atomic<UInt8>(Phase.running.rawValue)
    private let storedCondition = Mutex(Condition.notReady(reason: "starting"))

    init(index: Int, name: String) {
        self.index = index
        self.name = name
    }

    /// The statuses of `count` lanes, for the group that will run them and for whoever watches it.
    package static func lanes(named name: String, count: Int) -> [LaneStatus] {
        (0..<count).map { LaneStatus(index: $0, name: "\(name)-\($0)") }
    }

    package var phase: Phase { Phase(rawValue: storedPhase.load(ordering: .acquiring)) ?? .failed }

    package var condition: Condition { storedCondition.withLock { $0 } }

    /// How long ago the lane began its current turn.
    package func sinceLastTurn(now: Int64 = Monotonic.now()) -> Duration {
        .nanoseconds(max(0, now &- lastTurn.load(ordering: .relaxed)))
    }

    /// Whether the lane still turns: it ended well, or its last turn began no longer ago than `limit`.
    ///
    /// A lane that failed never turns again, and one that hangs in a call does not either; neither is alive.
    package func isAlive(limit: Duration, now: Int64 = Monotonic.now()) -> Bool {
        switch phase {
        case .finished: true
        case .failed: false
        case .running: sinceLastTurn(now: now) <= limit
        }
    }

    func turn(now: Int64 = Monotonic.now()) {
        lastTurn.store(now, ordering: .relaxed)
    }

    func become(_ condition: Condition) {
        storedCondition.withLock { $0 = condition }
    }

    func end(_ phase: Phase) {
        become(.notReady(reason: phase == .finished ? "finished" : "failed"))
        storedPhase.store(phase.rawValue, ordering: .releasing)
    }
}
