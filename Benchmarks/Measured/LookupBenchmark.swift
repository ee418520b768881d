internal import EncryptWorker
internal import Kafka
internal import Postgres
internal import Push

/// The encrypt lane's query alone, batch after batch; a row is a notification.
enum LookupBenchmark {
    private static let batch = 1000
    private static let distinctBatches = 20

    static func measure(_ assignment: Assignment) throws -> Measurement {
        let settings = try EncryptBenchmark.settings(assignment)
        var connection = try Connection(connectingTo: settings.database)
        var lookup = SubscriptionLookup(zone: settings.zone)
        let population = assignment.name.population
        let batches = try (0..<distinctBatches).map { index in
            try (index * batch..<(index + 1) * batch).map { (record: $0, event: try event($0, population)) }
        }
        // The first query finds the server's caches empty.
        var found = try lookup.run(batches[0], on: &connection).count
        let meter = Meter(from: found)
        for index in 0..<max(1, assignment.events / batch) {
            found += try lookup.run(batches[index % batches.count], on: &connection).count
        }
        return Measurement(meter.stop(at: found))
    }

    private static func event(_ number: Int, _ population: Population) throws -> TriggerEvent {
        var reader = TriggerEventReader()
        for (name, value) in [
            ("ce_specversion", "1.0"), ("ce_id", Population.eventID(number)),
            ("ce_source", Population.source),
            ("ce_type", Population.triggerType), ("ce_subject", population.user(ofEvent: number)),
        ] { reader.take(header: name, Array(value.utf8)) }
        let now = Timestamp(milliseconds: 0)
        guard case .event(let event) = try reader.finish(value: [], recordTimestamp: 0, now: now) else {
            throw BenchmarkError.stuck("lookup")
        }
        return event
    }
}
