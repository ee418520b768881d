/// How long a record waits in the lane before its next attempt, and how often it is tried.
package struct Backoff: Hashable, Sendable {
    /// The pause after the first attempt.
    package var first: Duration
    /// The longest pause.
    package var maximum: Duration
    /// How many attempts a record gets, at least 1.
    package var maximumAttempts: Int

    package init(first: Duration = .seconds(1), maximum: Duration = .seconds(60), maximumAttempts: Int = 12) {
        self.first = max(first, .zero)
        self.maximum = max(maximum, self.first)
        self.maximumAttempts = max(maximumAttempts, 1)
    }

    /// The pause after the given number of attempts: doubling, up to the maximum, of that between half and all.
    package func pause(after attempts: Int, jitter: inout Jitter) -> Duration {
        let grown = first * (1 << min(max(attempts - 1, 0), 30))
        return jitter.upperHalf(of: min(grown, maximum))
    }
}
