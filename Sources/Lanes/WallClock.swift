internal import Glibc

/// The time that people and other machines agree on; it may step, so waiting is done on ``Monotonic`` instead.
package enum WallClock {
    /// Milliseconds since the Unix epoch.
    ///
    /// The corresponding C function is `clock_gettime`.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
