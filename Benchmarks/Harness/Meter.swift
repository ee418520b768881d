internal import Glibc
internal import Lanes
internal import LocalServices

/// Takes the time and the CPU of a stretch of work, and the memory of the process.
struct Meter {
    /// A stretch of work.
    struct Stretch {
        let notifications: Int
        let nanoseconds: Int64
        let cpuMicroseconds: Int64
    }

    private let count: Int
    private let time: Int64
    private let cpu: Int64

    /// Starts with what was done until now.
    init(from count: Int = 0) {
        self.count = count
        time = Monotonic.now()
        cpu = Self.cpuMicroseconds()
    }

    func stop(at count: Int) -> Stretch {
        Stretch(
            notifications: count - self.count,
            nanoseconds: Monotonic.now() - time,
            cpuMicroseconds: Self.cpuMicroseconds() - cpu
        )
    }

    /// Watches a counter that lanes move, from when it has reached `start` until it has reached `total`.
    ///
    /// What comes before the first committed batch (connecting, joining the group) is not counted.
    ///
    /// - Throws: ``BenchmarkError/stuck(_:)``.
    static func watch(
        _ what: String,
        from start: Int = 1,
        until total: Int,
        stop: StopFlag,
        _ count: () -> Int
    ) throws(BenchmarkError) -> Stretch {
        var meter: Meter?
        var last = 0
        var deadline = Monotonic.deadline(after: .seconds(60))
        while true {
            let now = count()
            if now > last {
                last = now
                deadline = Monotonic.deadline(after: .seconds(60))
                if let meter {
                    if now >= total { return meter.stop(at: now) }
                } else if now >= start {
                    meter = Meter(from: now)
                }
            }
            guard Monotonic.now() < deadline else { throw .stuck(what) }
            if stop.wait(for: .milliseconds(2)) { throw .stuck(what) }
        }
    }

    /// User and system time of all threads of this process.
    ///
    /// The corresponding C function is `getrusage`.
    static func cpuMicroseconds() -> Int64 {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }

    /// The most memory that this process ever had resident.
    ///
    /// Not `ru_maxrss` of `getrusage`: that one counts what the parent had when it forked. Source: proc(5), `VmHWM`.
    static func peakKilobytes() -> Int {
        let status = String(decoding: Files.read("/proc/self/status") ?? [], as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).compactMap { Int($0) }.first ?? 0
    }

    private static func microseconds(_ time: timeval) -> Int64 {
        Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_usec)
    }
}
