/// Spreads events evenly over time: the n-th is due n intervals after the start.
///
/// Whoever was held up catches up, by at most a tenth of a second's events, instead of sending all that was missed at once.
package struct Pace: Sendable {
    private let interval: Duration
    private var due: ContinuousClock.Instant

    /// The longest backlog that is caught up.
    private static let slack = Duration.milliseconds(100)

    /// - Parameters:
    ///   - rate: events a second, from 1.
    ///   - start: when the first one is due.
    package init(rate: Int, from start: ContinuousClock.Instant) {
        interval = .seconds(1) / max(rate, 1)
        due = start
    }

    /// How long the next event must still wait, which is then taken for sent; zero or less for not at all.
    package mutating func wait(at now: ContinuousClock.Instant) -> Duration {
        due = max(due, now - Self.slack)
        defer { due += interval }
        return due - now
    }
}
