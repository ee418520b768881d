internal import Glibc

extension Registry {
    /// Adds what Prometheus' own clients tell of a process, and what this program is.
    ///
    /// Source: Prometheus, Writing client libraries, process metrics.
    package func addProcessMetrics(version: String) {
        collect { exposition in
            exposition.family("posthorn_build_info", help: "What runs, as labels; always 1.", kind: .gauge)
            exposition.sample("posthorn_build_info", labels: ["version": version], 1)
            ProcessMetrics.collect(into: &exposition)
        }
    }
}

/// The process as the kernel sees it.
///
/// A value that cannot be read is left out.
enum ProcessMetrics {
    static func collect(into exposition: inout Exposition) {
        exposition.single(
            "process_cpu_seconds_total",
            help: "User and system CPU time spent in seconds.",
            kind: .counter,
            cpuSeconds()
        )
        if let statistics = Statistics() {
            exposition.single(
                "process_resident_memory_bytes",
                help: "Resident memory size in bytes.",
                kind: .gauge,
                Double(statistics.residentPages) * Double(sysconf(Int32(_SC_PAGESIZE)))
            )
            exposition.single(
                "process_virtual_memory_bytes",
                help: "Virtual memory size in bytes.",
                kind: .gauge,
                Double(statistics.virtualBytes)
            )
            exposition.single(
                "process_threads",
                help: "Number of OS threads in the process.",
                kind: .gauge,
                Double(statistics.threads)
            )
            if let boot = bootTime() {
                exposition.single(
                    "process_start_time_seconds",
                    help: "Start time of the process since unix epoch in seconds.",
                    kind: .gauge,
                    boot + Double(statistics.startTicks) / Double(sysconf(Int32(_SC_CLK_TCK)))
                )
            }
        }
        if let count = openDescriptors() {
            exposition.single(
                "process_open_fds",
                help: "Number of open file descriptors.",
                kind: .gauge,
                Double(count)
            )
        }
        exposition.single(
            "process_max_fds",
            help: "Maximum number of open file descriptors.",
            kind: .gauge,
            Double(sysconf(Int32(_SC_OPEN_MAX)))
        )
    }

    /// The corresponding C function is `clock_gettime` with the process's CPU clock.
    private static func cpuSeconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func bootTime() -> Double? {
        text(of: "/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
            .flatMap { Double($0.dropFirst(6)) }
    }

    private static func openDescriptors() -> Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // Without "." and "..", and the descriptor that reads the folder.
        return max(count - 3, 0)
    }

    static func text(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while content.count < 1 << 20 {
            let count = unsafe block.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress, $0.count)
            }
            if count <= 0 { break }
            content += block[..<count]
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Fields of `/proc/self/stat`, by the numbers of proc_pid_stat(5).
    struct Statistics {
        let threads: Int
        let startTicks: Int
        let virtualBytes: Int
        let residentPages: Int

        init?() {
            guard let text = ProcessMetrics.text(of: "/proc/self/stat") else { return nil }
            self.init(text)
        }

        init?(_ text: String) {
            // The second field is the program's name in parentheses, and may hold spaces and parentheses itself.
            guard let end = text.lastIndex(of: ")") else { return nil }
            let fields = text[text.index(after: end)...].split(separator: " ")
            guard fields.count > 21,
                let threads = Int(fields[17]), let start = Int(fields[19]),
                let virtual = Int(fields[20]), let resident = Int(fields[21])
            else { return nil }
            (self.threads, startTicks, virtualBytes, residentPages) = (threads, start, virtual, resident)
        }
    }
}
