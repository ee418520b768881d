package import Push
internal import Synchronization

/// Plays one origin of a ``GatewayScript``: knows which phase it is, and what to do with the next request.
///
/// Time comes from a clock that is passed in. Every chance is drawn in the order in which requests arrive, so that the same requests in the
/// same order have the same fate under the same seed; shares of pushkeys do not even depend on the order. A lock serialises access.
package final class ScriptPlayer: Sendable {
    package let origin: GatewayScript.Origin
    private let seed: UInt64
    private let clock: Clock
    private let state: Mutex<State>

    /// Where a player takes the time from.
    package struct Clock: Sendable {
        /// Since some moment; never goes back.
        package var elapsed: @Sendable () -> Duration
        /// For dates in answers.
        package var now: @Sendable () -> Timestamp

        package init(
            elapsed: @escaping @Sendable () -> Duration,
            now: @escaping @Sendable () -> Timestamp
        ) {
            self.elapsed = elapsed
            self.now = now
        }

        package static var system: Clock {
            let start = ContinuousClock.now
            return Clock(elapsed: { ContinuousClock.now - start }, now: { SystemTime.now() })
        }
    }

    /// A request that has its place in the script.
    struct Turn: Sendable {
        let phase: GatewayScript.Phase
    }

    struct State {
        var phase = 0
        var beganAt: Duration
        /// Requests in this phase.
        var requests = 0
        var dice: ScriptDice
        /// Keys whose rejection a reference gateway has not told yet.
        var suspects: Set<String> = []
    }

    package init(_ origin: GatewayScript.Origin, seed: UInt64 = 1, clock: Clock = .system) {
        self.origin = origin
        self.seed = seed
        self.clock = clock
        state = Mutex(State(beganAt: clock.elapsed(), dice: ScriptDice(seed: seed)))
    }

    /// The name of the phase that is on.
    package var phase: String { current.name }

    /// What a gateway does with this request; can be passed as a behaviour where nothing but conducts matters.
    package func conduct(for arrival: GatewayArrival) -> GatewayConduct {
        conduct(for: arrival, in: takeTurn())
    }

    /// Goes to a phase at once, from its beginning.
    ///
    /// - Returns: false when there is none of that name.
    package func enter(_ name: String) -> Bool {
        guard let index = origin.phases.firstIndex(where: { $0.name == name }) else { return false }
        state.withLock { state in
            state.phase = index
            state.beganAt = clock.elapsed()
            state.requests = 0
        }
        return true
    }

    var manner: GatewayManner { current.manner }

    var connection: GatewayScript.Connection { current.connection }

    /// Counts a request in.
    func takeTurn() -> Turn {
        state.withLock { state in
            advance(&state)
            state.requests += 1
            return Turn(phase: origin.phases[state.phase])
        }
    }

    func conduct(for arrival: GatewayArrival, in turn: Turn) -> GatewayConduct {
        state.withLock { state in
            let rule = turn.phase.rules.first { rule in
                rule.fits(arrival) && state.dice.falls(within: rule.share)
            }
            var casting = Casting(arrival: arrival, manner: turn.phase.manner, seed: seed, now: clock.now())
            return casting.conduct(under: rule ?? GatewayScript.Rule(), &state)
        }
    }

    private var current: GatewayScript.Phase {
        state.withLock { state in
            advance(&state)
            return origin.phases[state.phase]
        }
    }

    /// Leaves the phases that are over.
    private func advance(_ state: inout State) {
        let now = clock.elapsed()
        // Short phases of a long night need not all be walked through.
        for _ in 0..<1000 {
            let phase = origin.phases[state.phase]
            let isLast = state.phase == origin.phases.count - 1
            guard !isLast || origin.repeats else { return }
            if let requests = phase.requests, state.requests >= requests {
                state.beganAt = now
            } else if let lasts = phase.lasts, now - state.beganAt >= lasts {
                state.beganAt += lasts
            } else {
                return
            }
            state.phase = isLast ? 0 : state.phase + 1
            state.requests = 0
        }
        state.beganAt = now
    }
}

extension GatewayScript.Rule {
    fileprivate func fits(_ arrival: GatewayArrival) -> Bool {
        guard path == nil || path == arrival.path else { return false }
        return apps.isEmpty || arrival.items.contains { $0.devices.contains { apps.fit($0.app) } }
    }
}

extension [String] {
    /// Whether one of these names is that app's; `com.example.*` is for all below it.
    func fit(_ app: String) -> Bool {
        contains { name in name.last == "*" ? app.hasPrefix(name.dropLast()) : app == name }
    }
}
