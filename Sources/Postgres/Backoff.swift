/// Pauses that double up to a bound, each shortened at random by up to half so that many clients do not return together.
struct Backoff {
    private var current: Duration
    private let longest: Duration

    init(first: Duration, longest: Duration) {
        current = min(first, longest)
        self.longest = longest
    }

    mutating func next() -> Duration {
        defer { current = min(current * 2, longest) }
        return current * Double.random(in: 0.5...1)
    }
}
