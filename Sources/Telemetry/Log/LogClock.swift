internal import Glibc

/// Where a log takes its time from.
package struct LogClock: Sendable {
    /// Milliseconds since the Unix epoch.
    package let wall: @Sendable () -> Int64
    /// Nanoseconds that never go back.
    package let monotonic: @Sendable () -> Int64

    package init(wall: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }

    /// The corresponding C function is `clock_gettime`.
    package static let system = LogClock(
        wall: { nanoseconds(of: CLOCK_REALTIME) / 1_000_000 },
        monotonic: { nanoseconds(of: CLOCK_MONOTONIC) }
    )

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// How far local time is ahead of UTC now, in seconds.
    ///
    /// The corresponding C function is `localtime_r`.
    package static var secondsFromUTC: Int {
        var now = time(nil)
        var local = unsafe tm()
        unsafe localtime_r(&now, &local)
        return unsafe Int(local.tm_gmtoff)
    }
}
