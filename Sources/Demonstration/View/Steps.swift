internal import Lanes

/// The preparations, one line each: what is made, and how long it took.
///
/// A signal ends them: between two steps, not within one.
struct Steps {
    private var screen: Screen
    private let signal: Int32
    private var name = ""
    private var start = ContinuousClock.now

    init(_ screen: Screen, until signal: Int32) {
        self.screen = screen
        self.signal = signal
    }

    /// Begins a step.
    ///
    /// - Throws: ``DemoError/interrupted`` if a signal has come.
    mutating func begin(_ name: String) throws {
        try pause(for: .zero)
        self.name = name
        start = .now
        try screen.redraw([screen.ink.faint("  · \(name.leading(10))      …")])
    }

    /// Ends it, with what came of it.
    mutating func end(_ outcome: String) throws {
        let time = Figures.tenths(Figures.seconds(.now - start))
        let taken = screen.ink.faint("\(time) s".trailing(7))
        try screen.replace(with: ["  \(screen.ink.good("✓")) \(name.leading(10))\(taken)  \(outcome)"])
    }

    /// Waits.
    ///
    /// - Throws: ``DemoError/interrupted`` if a signal comes.
    func pause(for duration: Duration) throws(DemoError) {
        if Readiness.wait(for: signal, until: Monotonic.deadline(after: duration)) { throw .interrupted }
    }
}
