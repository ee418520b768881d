/// How carefully a replay goes about it; given anew when it is gone on with.
package struct ReplaySettings: Sendable, Hashable {
    /// Letters a second; nil for as fast as the broker takes them.
    package var rate: Int?
    /// How much the lag of the live lanes may grow before the replay waits; nil does not look.
    package var lagAllowance: Int64? = 20_000
    /// How long it waits for the lag to go down before it stops.
    package var lagPatience: Duration = .seconds(600)
    /// It stops when that many of its letters have come back; nil for never.
    package var maximumReturns: Int? = 100
    /// Letters of one step, which is one transaction.
    package var step = 2000
    /// How often a step is tried before it stops.
    package var attempts = 4
    /// How long the broker or the database may give no answer before it stops.
    package var patience: Duration = .seconds(60)

    package init() {}

    /// At a rate, steps are so short that one takes a fifth of a second.
    var stepLimit: Int {
        guard let rate else { return step }
        return min(step, max(1, rate / 5))
    }
}

/// How a replay ended.
package enum ReplayEnd: Sendable, Equatable {
    /// Everything between the bounds was looked at.
    case finished
    /// As many were sent as asked for.
    case limitReached
    /// Stopped from outside; to be gone on with.
    case interrupted
    /// Too many came back; to be gone on with once that is mended.
    case returned(Int)
    /// The live lanes did not catch up.
    case lagging(Int64)
    /// The broker or the database refused again and again.
    case failed(DeadLettersError)

    /// Whether there is nothing left to go on with.
    package var isDone: Bool {
        switch self {
        case .finished, .limitReached: true
        case .interrupted, .returned, .lagging, .failed: false
        }
    }

    /// A word for the audit and JSON.
    package var word: String {
        switch self {
        case .finished: "finished"
        case .limitReached: "limit_reached"
        case .interrupted: "interrupted"
        case .returned: "returned"
        case .lagging: "lagging"
        case .failed: "failed"
        }
    }
}
