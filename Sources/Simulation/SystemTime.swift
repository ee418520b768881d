internal import Glibc
internal import Push

/// The system's wall clock.
enum SystemTime {
    /// The corresponding C function is `clock_gettime`.
    static func now() -> Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
