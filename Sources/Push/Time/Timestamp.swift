/// A moment of wall time, in whole milliseconds since the Unix epoch (1970-01-01T00:00:00Z), leap seconds not
/// counted.
///
/// Wall time decides what outsiders agree on: expiry, registration times, `Retry-After`. Waiting is done with
/// `Duration` on a monotonic clock instead. Any `Int64` is accepted, since record timestamps and database columns
/// come from outside; arithmetic saturates.
package struct Timestamp: Hashable, Sendable {
    /// Milliseconds since the Unix epoch.
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The moment `seconds` after the epoch; beyond the range of milliseconds the nearest representable moment.
    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since the epoch, rounded down: the unit of `pushkey_ts`.
    package var seconds: Int64 {
        let quotient = milliseconds / 1000
        return milliseconds % 1000 < 0 ? quotient - 1 : quotient
    }

    /// This moment moved by `milliseconds`; beyond the range the nearest representable moment.
    package func adding(milliseconds delta: Int64) -> Timestamp {
        let (sum, overflow) = milliseconds.addingReportingOverflow(delta)
        return Timestamp(milliseconds: overflow ? (delta < 0 ? .min : .max) : sum)
    }

    /// This moment moved by `duration`, cut to whole milliseconds; beyond the range the nearest representable moment.
    package func adding(_ duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let whole = Timestamp(seconds: seconds).milliseconds
        return adding(milliseconds: whole).adding(milliseconds: attoseconds / 1_000_000_000_000_000)
    }

    /// The time from `earlier` to this moment, negative if this moment is the earlier one; beyond the range of
    /// `Int64` the nearest value.
    package func since(_ earlier: Timestamp) -> Duration {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return .milliseconds(overflow ? (milliseconds < earlier.milliseconds ? .min : .max) : difference)
    }
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC with milliseconds.
    package var description: String { rfc3339 }
}
