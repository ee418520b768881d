internal import EncryptWorker
internal import Kafka
internal import Lanes
internal import Postgres
internal import Telemetry

/// The encrypt lane as it is, on one thread, over a population's events.
enum EncryptBenchmark {
    static func measure(_ assignment: Assignment) throws -> Measurement {
        let settings = try settings(assignment)
        let metrics = EncryptMetrics(Registry(), lanes: 1)
        let log = Log(level: .warning, style: .json)
        let total = assignment.events * assignment.name.population.pushersPerUser
        return try OneLane.measure(named: "encrypt") { context throws(EncryptError) in
            try EncryptLane.run(settings, context: context, metrics: metrics, log: log)
        } _: { stop in
            try Meter.watch(assignment.name.rawValue, until: total, stop: stop) {
                Int(metrics.notifications.value)
            }
        }
    }

    /// What the command `encrypt` would use by default.
    static func settings(_ assignment: Assignment) throws -> EncryptSettings {
        var settings = EncryptSettings(
            kafka: Kafka.Configuration(["bootstrap.servers": assignment.bootstrapServers]),
            database: try Postgres.Configuration(assignment.databaseURL),
            keyFile: assignment.keyFile,
            instance: "bench"
        )
        settings.topics = assignment.name.population.topics
        return settings
    }
}
