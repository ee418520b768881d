/// Spreads letters evenly over time: a step is due when those before it have had their time.
///
/// Whoever was held up does not catch up by sending faster than asked.
struct RatePace {
    private let interval: Duration
    private var next: ContinuousClock.Instant

    init(rate: Int, from start: ContinuousClock.Instant) {
        interval = .seconds(1) / max(rate, 1)
        next = start
    }

    /// When a step of `count` letters may go, which then takes the time of as many.
    mutating func due(_ count: Int, at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let due = max(next, now)
        next = due + interval * count
        return due
    }
}
