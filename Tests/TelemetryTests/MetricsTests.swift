import Testing

@testable import Telemetry

struct MetricsTests {
    private func text(_ registry: Registry) -> String {
        String(decoding: registry.render(), as: UTF8.self)
    }

    @Test func `counters, gauges and histograms are written as Prometheus reads them`() {
        let registry = Registry()
        let received = registry.counter(
            "posthorn_received_total",
            help: "Records received.",
            labels: ["lane": "0"]
        )
        received.increment()
        received.add(41)
        received.add(-5)
        registry.counter("posthorn_received_total", help: "Records received.", labels: ["lane": "1"]).add(7)
        let inFlight = registry.gauge("posthorn_in_flight", help: "Records\nin \\ flight.")
        inFlight.set(2.5)
        inFlight.add(-1)
        let wait = registry.histogram(
            "posthorn_wait_seconds",
            help: "Wait.",
            buckets: [0.1, 1],
            labels: ["to": "db"]
        )
        for value in [0.05, 0.1, 0.5, 30] { wait.observe(value) }
        #expect(
            text(registry) == #"""
                # HELP posthorn_received_total Records received.
                # TYPE posthorn_received_total counter
                posthorn_received_total{lane="0"} 42
                posthorn_received_total{lane="1"} 7
                # HELP posthorn_in_flight Records\nin \\ flight.
                # TYPE posthorn_in_flight gauge
                posthorn_in_flight 1.5
                # HELP posthorn_wait_seconds Wait.
                # TYPE posthorn_wait_seconds histogram
                posthorn_wait_seconds_bucket{to="db",le="0.1"} 2
                posthorn_wait_seconds_bucket{to="db",le="1"} 3
                posthorn_wait_seconds_bucket{to="db",le="+Inf"} 4
                posthorn_wait_seconds_sum{to="db"} 30.65
                posthorn_wait_seconds_count{to="db"} 4

                """#
        )
    }

    @Test func `the value of a label is escaped`() {
        let registry = Registry()
        registry.gauge("a", help: "A.", labels: ["b": "x\"y\\z\n"]).set(1)
        #expect(text(registry).hasSuffix("a{b=\"x\\\"y\\\\z\\n\"} 1\n"))
    }

    @Test(
        arguments: [
            (0, "0"), (-3, "-3"), (0.25, "0.25"), (1e21, "1e+21"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
            (.nan, "NaN"),
            (1e14, "100000000000000"),
        ] as [(Double, String)]
    )
    func `a number is written as Prometheus reads it`(number: Double, written: String) {
        var text: [UInt8] = []
        text.appendNumber(number)
        #expect(String(decoding: text, as: UTF8.self) == written)
    }

    @Test func `the same name and labels are the same metric`() {
        let registry = Registry()
        let one = registry.counter("a_total", help: "A.", labels: ["x": "1"])
        #expect(registry.counter("a_total", help: "A.", labels: ["x": "1"]) === one)
        #expect(registry.counter("a_total", help: "A.", labels: ["x": "2"]) !== one)
    }

    @Test func `series are bounded, and what is beyond goes to one that says so`() {
        let registry = Registry()
        for number in 0..<Registry.seriesLimit + 50 {
            registry.counter("a_total", help: "A.", labels: ["gateway": "\(number)"]).increment()
        }
        let lines = text(registry).split(separator: "\n")
        #expect(lines.count == 2 + Registry.seriesLimit + 1)
        #expect(lines.contains("a_total{gateway=\"other\"} 50"))
    }

    @Test func `no update of several threads is lost`() async {
        let registry = Registry()
        let counter = registry.counter("a_total", help: "A.")
        let gauge = registry.gauge("b", help: "B.")
        let histogram = registry.histogram("c", help: "C.", buckets: [1, 2])
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for _ in 0..<20_000 {
                        counter.increment()
                        gauge.add(1)
                        histogram.observe(Double(thread))
                    }
                }
            }
        }
        #expect(counter.value == 80_000)
        #expect(gauge.value == 80_000)
        #expect(histogram.count == 80_000)
        #expect(histogram.total == 120_000)
        #expect(
            text(registry).contains(
                "c_bucket{le=\"1\"} 40000\nc_bucket{le=\"2\"} 60000\nc_bucket{le=\"+Inf\"} 80000\n"
            )
        )
    }

    @Test func `a duration is observed in seconds`() {
        let histogram = Registry().histogram("a_seconds", help: "A.")
        histogram.observe(.milliseconds(1500))
        #expect(histogram.total == 1.5)
    }

    @Test func `the process tells its memory, time, threads and descriptors`() throws {
        let registry = Registry()
        registry.addProcessMetrics(version: "1.2.3")
        let lines = text(registry).split(separator: "\n")
        #expect(lines.contains("posthorn_build_info{version=\"1.2.3\"} 1"))
        func value(_ name: String) throws -> Double {
            let line = try #require(lines.first { $0.hasPrefix("\(name) ") })
            return try #require(Double(line.dropFirst(name.utf8.count + 1)))
        }
        #expect(try value("process_resident_memory_bytes") > 1_048_576)
        #expect(try value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"))
        #expect(try value("process_cpu_seconds_total") > 0)
        #expect(try value("process_threads") >= 1)
        #expect(try value("process_open_fds") >= 3)
        #expect(try value("process_max_fds") >= 64)
        let now = Double(LogClock.system.wall()) / 1000
        let start = try value("process_start_time_seconds")
        #expect(start <= now + 2 && start > now - 86_400)
    }

    @Test func `a program's name with spaces and parentheses does not shift the fields`() throws {
        let fields = (3...52).map(String.init).joined(separator: " ")
        let statistics = try #require(ProcessMetrics.Statistics("1 (a) b) ( ) \(fields)"))
        #expect(statistics.threads == 20 && statistics.startTicks == 22)
        #expect(statistics.virtualBytes == 23 && statistics.residentPages == 24)
        #expect(ProcessMetrics.Statistics("") == nil)
        #expect(ProcessMetrics.Statistics("1 (a) S 1") == nil)
    }

    @Test func `an unfit name is our own mistake and ends the process`() async {
        await #expect(processExitsWith: .failure) {
            _ = Registry().counter("no-dashes", help: "")
        }
        await #expect(processExitsWith: .failure) {
            let registry = Registry()
            _ = registry.counter("a", help: "")
            _ = registry.gauge("a", help: "")
        }
    }
}
