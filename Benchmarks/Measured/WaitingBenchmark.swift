internal import DispatchWorker
internal import Lanes
internal import Telemetry

/// The dispatch lane while its gateway is down: it hands everything over to the retry topics, and reads there what comes due.
///
/// Measured until all have been handed over and, half a minute after the first, retries have come back and were handed over again: then
/// every buffer has been as full as it gets.
enum WaitingBenchmark {
    static func measure(_ assignment: Assignment) throws -> Measurement {
        let settings = try DrainBenchmark.settings(assignment)
        let metrics = DispatchMetrics(Registry(), lanes: 1)
        let log = Log(level: .error, style: .json)
        return try OneLane.measure(named: "dispatch") { context throws(DispatchError) in
            try DispatchLane.run(settings, context: context, metrics: metrics, log: log)
        } _: { stop in
            let name = assignment.name.rawValue
            let stretch = try Meter.watch(name, until: assignment.events, stop: stop) {
                Int(metrics.handedOver.value)
            }
            let deadline = Monotonic.deadline(after: .seconds(120))
            while metrics.retried.value < UInt64(settings.pollLimit), Monotonic.now() < deadline {
                if stop.wait(for: .milliseconds(50)) { throw BenchmarkError.stuck(name) }
            }
            _ = stop.wait(for: .seconds(5))
            guard metrics.retried.value > 0 else { throw BenchmarkError.stuck("retrying") }
            return stretch
        }
    }
}
