internal import DispatchWorker
internal import Lanes
internal import Telemetry

/// The dispatch lane as it is, on one thread, into gateways in another process.
enum DispatchBenchmark {
    /// What is counted, and from where to where.
    private struct Course {
        var start = 1
        var end: Int
        /// Of ten gateways nine are counted, whether the tenth gets anything or not.
        var countsNine = false

        init(_ assignment: Assignment) {
            end = DrainBenchmark.total(assignment)
            guard assignment.name.stock == .mixed else { return }
            // Not from the first: the lane waits half a second, once, before it does without a gateway that has stopped. Not to the last:
            // sending takes its time.
            let nine = assignment.events / 10 * 9
            (start, end) = (nine / 4, nine / 20 * 19)
            countsNine = assignment.name.gateways.hanging == 0
        }

        func count(_ delivered: UInt64) -> Int { countsNine ? Int(delivered) / 10 * 9 : Int(delivered) }
    }

    static func measure(_ assignment: Assignment) throws -> Measurement {
        let settings = try DrainBenchmark.settings(assignment)
        let metrics = DispatchMetrics(Registry(), lanes: 1)
        let log = Log(level: .warning, style: .json)
        let course = Course(assignment)
        return try OneLane.measure(named: "dispatch") { context throws(DispatchError) in
            try DispatchLane.run(settings, context: context, metrics: metrics, log: log)
        } _: { stop in
            try Meter.watch(
                assignment.name.rawValue,
                from: course.start,
                until: course.end,
                stop: stop
            ) {
                course.count(metrics.delivered.value)
            }
        }
    }
}
