/// Cuts down a storm of one event: the first ``burst`` lines of a window pass, the rest are counted.
///
/// Pure: time is a parameter. Events are literals, so the table is bounded by the source code.
///
///     window 1                  window 2
///     x x x … (burst) | count…  x x x …           and in between: "log lines suppressed", count
struct LogLimiter {
    /// Lines of one event that pass in a window.
    static let burst = 10
    /// Nanoseconds of a window.
    static let window: Int64 = 10_000_000_000

    private struct Tally {
        var start: Int64
        var passed = 0
        var suppressed = 0
    }

    private var tallies: [String: Tally] = [:]

    /// Whether a line of the event may be written at `now`, in nanoseconds of a monotonic clock.
    mutating func admits(_ event: String, now: Int64) -> Bool {
        var tally = tallies[event] ?? Tally(start: now)
        if now - tally.start >= Self.window {
            tally.start = now
            tally.passed = 0
        }
        let isAdmitted = tally.passed < Self.burst
        if isAdmitted { tally.passed += 1 } else { tally.suppressed += 1 }
        tallies[event] = tally
        return isAdmitted
    }

    /// Events that were held back and whose window is over, with how often; each is told once.
    mutating func drain(now: Int64) -> [(event: String, count: Int)] {
        var result: [(event: String, count: Int)] = []
        for (event, tally) in tallies where tally.suppressed > 0 && now - tally.start >= Self.window {
            result.append((event, tally.suppressed))
            tallies[event]?.suppressed = 0
        }
        return result.sorted { $0.event < $1.event }
    }
}
