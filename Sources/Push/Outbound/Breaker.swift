/// Stops sending to a destination that fails as a whole, and finds out carefully whether it is back.
///
/// ```
///            enough failures in a row, a fault, a Retry-After
///   closed ───────────────────────────────────────────────────▶ open(until)
///     ▲                                                          │  pause over
///     │ the probe was taken                                      ▼
///     └──────────────────────────────────────────────────── half-open ──▶ open, a longer pause: the probe failed
/// ```
///
/// Invariants:
/// 1. Open: nothing leaves. Half-open: one batch at a time, the probe.
/// 2. Every opening begins a new epoch. What left in an earlier epoch is old news and moves nothing, except that a `Retry-After` may prolong a pause.
/// 3. The pause doubles with every opening since the destination last worked, up to the maximum.
package struct Breaker: Sendable {
    package struct Settings: Hashable, Sendable {
        /// How many batches must fail in a row.
        package var failures = 5
        /// The first pause.
        package var pause: Duration = .seconds(1)
        /// The longest pause of our own making.
        package var maximumPause: Duration = .seconds(60)
        /// The longest pause that a destination can ask for; nothing waits longer than records live by default.
        package var maximumThrottle: Duration = .seconds(12 * 3600)

        package init() {}
    }

    /// Why it is not closed.
    package enum Reason: Hashable, Sendable {
        case failures
        case throttled
        case fault(DestinationFault)

        /// The label of metrics and logs.
        package var name: String {
            switch self {
            case .failures: "failures"
            case .throttled: "throttled"
            case .fault(let fault): fault.rawValue
            }
        }
    }

    package enum State: Hashable, Sendable {
        case closed
        case open(Reason, until: Duration)
        case halfOpen(Reason, isProbing: Bool)
    }

    /// What one batch says about the destination as a whole.
    package enum Verdict: Hashable, Sendable {
        case works
        case failure
        case fault(DestinationFault)
        /// Not before this much time; nil: it did not say.
        case throttled(Duration?)
    }

    package enum Permission: Hashable, Sendable {
        case pass
        case probe
        /// Not before this moment.
        case wait(until: Duration)
        /// The probe is under way.
        case busy
    }

    /// What a batch takes along and brings back.
    package struct Departure: Hashable, Sendable {
        var epoch: UInt64
        package var isProbe: Bool
    }

    package enum Change: Hashable, Sendable {
        case opened(Reason)
        case closed
    }

    package let settings: Settings
    package private(set) var state = State.closed
    private var epoch: UInt64 = 0
    private var failuresInARow = 0
    private var openings = 0

    package init(_ settings: Settings) {
        self.settings = settings
    }

    package func permission(at now: Duration) -> Permission {
        switch state {
        case .closed: .pass
        case .open(_, let until): now >= until ? .probe : .wait(until: until)
        case .halfOpen(_, let isProbing): isProbing ? .busy : .probe
        }
    }

    /// Notes that a batch leaves; only called when ``permission(at:)`` is `pass` or `probe`.
    package mutating func depart() -> Departure {
        switch state {
        case .closed:
            return Departure(epoch: epoch, isProbe: false)
        case .open(let reason, _), .halfOpen(let reason, _):
            state = .halfOpen(reason, isProbing: true)
            return Departure(epoch: epoch, isProbe: true)
        }
    }

    /// Notes that a batch came to nothing before it left; a probe is free again.
    package mutating func cancel(_ departure: Departure) {
        guard departure.isProbe, departure.epoch == epoch, case .halfOpen(let reason, _) = state else {
            return
        }
        state = .halfOpen(reason, isProbing: false)
    }

    /// Notes how a batch ended.
    ///
    /// - Returns: the transition, if there was one that others should know.
    package mutating func conclude(
        _ departure: Departure,
        _ verdict: Verdict,
        at now: Duration,
        jitter: inout Jitter
    ) -> Change? {
        guard departure.epoch == epoch else {
            prolong(verdict, at: now, jitter: &jitter)
            return nil
        }
        switch verdict {
        case .works:
            failuresInARow = 0
            guard departure.isProbe else { return nil }
            openings = 0
            state = .closed
            return .closed
        case .failure:
            failuresInARow += 1
            guard departure.isProbe || failuresInARow >= settings.failures else { return nil }
            return open(.failures, for: ownPause(&jitter), at: now)
        case .fault(let fault):
            return open(.fault(fault), for: ownPause(&jitter), at: now)
        case .throttled(let asked):
            return open(.throttled, for: askedPause(asked, &jitter), at: now)
        }
    }

    private mutating func open(_ reason: Reason, for pause: Duration, at now: Duration) -> Change {
        epoch += 1
        openings += 1
        failuresInARow = 0
        state = .open(reason, until: now + pause)
        return .opened(reason)
    }

    private mutating func prolong(_ verdict: Verdict, at now: Duration, jitter: inout Jitter) {
        guard case .throttled(let asked?) = verdict, case .open(let reason, let until) = state else { return }
        state = .open(reason, until: max(until, now + askedPause(asked, &jitter)))
    }

    private func ownPause(_ jitter: inout Jitter) -> Duration {
        let grown = settings.pause * (1 << min(openings, 20))
        return jitter.upperHalf(of: min(grown, settings.maximumPause))
    }

    private func askedPause(_ asked: Duration?, _ jitter: inout Jitter) -> Duration {
        guard let asked, asked > .zero else { return ownPause(&jitter) }
        // Never less than asked; a little more, so that lanes do not come back at once.
        let pause = min(asked, settings.maximumThrottle)
        return pause + min(pause * 0.1, .seconds(10)) * jitter.unit()
    }
}
