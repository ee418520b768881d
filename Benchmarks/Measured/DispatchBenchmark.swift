internal import DispatchWorker
internal import Lanes
internal import Telemetry

/// The dispatch lane as it is, on one thread, into a gateway in another process that answers at once.
enum DispatchBenchmark {
    static func measure(_ assignment: Assignment) throws -> Measurement {
        let settings = try DrainBenchmark.settings(assignment)
        let metrics = DispatchMetrics(Registry(), lanes: 1)
        let log = Log(level: .warning, style: .json)
        let stop = try StopFlag()
        let lanes = try LaneGroup(
            LaneStatus.lanes(named: "dispatch", count: 1),
            policy: .stopOthers,
            stop: stop
        ) { context throws(DispatchError) in
            try DispatchLane.run(settings, context: context, metrics: metrics, log: log)
        }
        let total = DrainBenchmark.total(assignment)
        let stretch = try Meter.watch(assignment.name.rawValue, until: total, stop: stop) {
            Int(metrics.delivered.value)
        }
        let measurement = Measurement(stretch)
        stop.raise()
        for case .failed(let error) in lanes.join(within: .seconds(60)) { throw error }
        return measurement
    }
}
