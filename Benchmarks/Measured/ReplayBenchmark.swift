internal import DeadLetters
internal import Kafka
internal import Postgres
internal import Push

/// Dead letters sent again as the command `dead-letters replay` does it, at no set rate and with nobody to yield to.
enum ReplayBenchmark {
    static func measure(_ assignment: Assignment) throws -> Measurement {
        let desk = Desk(
            topics: assignment.name.topics,
            kafka: Kafka.Configuration(["bootstrap.servers": assignment.bootstrapServers]),
            operator: "bench"
        )
        var connection = try Connection(connectingTo: Postgres.Configuration(assignment.databaseURL))
        var settings = ReplaySettings()
        settings.lagAllowance = nil
        // What comes before the first step (the lock, the bounds) is not counted.
        var meter: Meter?
        let report = try desk.replay(
            .new(DeadLetterFilter(), ReplayRules()),
            from: desk.source(.dispatch),
            settings,
            in: &connection
        ) { progress in
            if meter == nil { meter = Meter(from: progress.tally.replayed) }
        }
        guard let meter, report.end == .finished, report.tally.replayed == assignment.events else {
            throw BenchmarkError.unavailable(
                "replay ended as \(report.end.word) after \(report.tally.replayed) letters"
            )
        }
        return Measurement(meter.stop(at: report.tally.replayed))
    }
}
