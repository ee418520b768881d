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
        let stop = try StopFlag()
        let log = Log(level: .error, style: .json)
        let lanes = try LaneGroup(
            LaneStatus.lanes(named: "dispatch", count: 1),
            policy: .stopOthers,
            stop: stop
        ) { context throws(DispatchError) in
            try DispatchLane.run(settings, context: context, metrics: metrics, log: log)
        }
        let stretch = try Meter.watch(assignment.name.rawValue, until: assignment.events, stop: stop) {
            Int(metrics.handedOver.value)
        }
        let deadline = Monotonic.deadline(after: .seconds(120))
        while metrics.retried.value < UInt64(settings.pollLimit), Monotonic.now() < deadline {
            if stop.wait(for: .milliseconds(50)) { throw BenchmarkError.stuck(assignment.name.rawValue) }
        }
        _ = stop.wait(for: .seconds(5))
        guard metrics.retried.value > 0 else { throw BenchmarkError.stuck("retrying") }
        let measurement = Measurement(stretch)
        stop.raise()
        for case .failed(let error) in lanes.join(within: .seconds(60)) { throw error }
        return measurement
    }
}
