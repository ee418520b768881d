internal import Glibc

/// Time that never goes back, in nanoseconds since some moment; a number, so that an atomic can hold it.
package enum Monotonic {
    /// The corresponding C function is `clock_gettime`.
    package static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The moment that is `duration` from now; the end of time when that does not fit.
    package static func deadline(after duration: Duration) -> Int64 {
        let (sum, overflow) = now().addingReportingOverflow(nanoseconds(duration))
        return overflow ? .max : sum
    }

    /// A duration in nanoseconds, clamped to what fits.
    package static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }
}
