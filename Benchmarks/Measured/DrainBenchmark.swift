internal import DispatchWorker
internal import Kafka
internal import Lanes
internal import Postgres
internal import Push

/// The baseline of the dispatch lane: notifications are read as it reads them, and nothing else.
enum DrainBenchmark {
    /// Half of what one round of encrypting has written: sending takes its time.
    static func total(_ assignment: Assignment) -> Int { assignment.events * 2 }

    static func measure(_ assignment: Assignment) throws -> Measurement {
        let settings = try settings(assignment)
        var consumer = try Consumer(settings.consumer())
        try consumer.subscribe([settings.topics.notifications])
        let total = total(assignment)
        var records: [Record] = []
        var drained = 0
        var meter: Meter?
        let deadline = Monotonic.deadline(after: .seconds(120))
        while Monotonic.now() < deadline {
            records.removeAll(keepingCapacity: true)
            _ = try consumer.poll(into: &records, limit: settings.pollLimit, wait: .milliseconds(100))
            drained += records.count
            if let meter, drained >= total {
                let measurement = Measurement(meter.stop(at: drained))
                consumer.close()
                return measurement
            }
            if meter == nil, drained > 0 { meter = Meter(from: drained) }
        }
        throw BenchmarkError.stuck("drain")
    }

    /// What the command `dispatch` would use by default.
    static func settings(_ assignment: Assignment) throws -> DispatchSettings {
        var settings = DispatchSettings(
            kafka: Kafka.Configuration(["bootstrap.servers": assignment.bootstrapServers]),
            database: try Postgres.Configuration(assignment.databaseURL)
        )
        settings.topics = assignment.name.topics
        return settings
    }
}
