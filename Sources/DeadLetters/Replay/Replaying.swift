internal import JSON
package import Postgres
package import Push

/// What a replay was, for who asked for it.
package struct ReplayReport: Sendable {
    /// Names it, to go on with.
    package let id: UUIDBytes
    package let topic: String
    package let filter: DeadLetterFilter
    package let end: ReplayEnd
    /// Of the whole replay, what came before an interruption included.
    package let tally: ReplayTally
    /// Offsets between the bounds that were not looked at.
    package let remaining: Int64
    /// Whether the end could be written down; what was done is in any case.
    package let isNoted: Bool
}

/// Which letters a replay is about.
package enum ReplayRequest: Sendable {
    /// Those that are there now and match.
    case new(DeadLetterFilter, ReplayRules)
    /// The rest of a replay that was stopped or killed, by its own filter, rules and bounds.
    case resume(UUIDBytes)
}

extension Desk {
    /// Sends letters again, or sets them aside: from a lock taken to a lock given back.
    ///
    /// - Parameters:
    ///   - request: a new one, or the rest of one.
    ///   - source: the topic.
    ///   - settings: how carefully.
    ///   - stop: raised from outside to stop after the step under way.
    ///   - connection: the database.
    ///   - observe: told after each step.
    /// - Returns: how it ended; a failure half way is a ``ReplayEnd/failed(_:)``.
    /// - Throws: ``DeadLettersError`` when it could not even begin.
    package func replay(
        _ request: ReplayRequest,
        from source: LetterSource,
        _ settings: ReplaySettings,
        stop: StopSign = .none,
        in connection: inout Connection,
        observe: @escaping (ReplayProgress) -> Void = { _ in }
    ) throws(DeadLettersError) -> ReplayReport {
        try holding(source, for: request.purpose, in: &connection) {
            (held: Held, connection: inout Connection) throws(DeadLettersError) in
            let replay = try begin(request, source, held, in: &connection)
            var run = try ReplayRun(
                self,
                source,
                replay,
                settings,
                held,
                stop: stop,
                in: &connection,
                observe: observe
            )
            let (end, after) = run.run(in: &connection)
            let isNoted = (try? finish(after, end, in: &connection)) != nil
            return ReplayReport(
                id: after.id,
                topic: after.topic,
                filter: after.filter,
                end: end,
                tally: after.tally,
                remaining: end == .finished ? 0 : after.remaining.span,
                isNoted: isNoted
            )
        }
    }

    private func begin(
        _ request: ReplayRequest,
        _ source: LetterSource,
        _ held: Held,
        in connection: inout Connection
    ) throws(DeadLettersError) -> StoredReplay {
        switch request {
        case .new(let filter, let rules):
            return try begin(filter, rules, held, in: &connection)
        case .resume(let id):
            return try goOn(id, source, held, in: &connection)
        }
    }

    private func begin(
        _ filter: DeadLetterFilter,
        _ rules: ReplayRules,
        _ held: Held,
        in connection: inout Connection
    ) throws(DeadLettersError) -> StoredReplay {
        var progress: [Int32: StoredReplay.Progress] = [:]
        for (partition, range) in held.bounds.narrowed(by: filter).ranges {
            progress[partition] = StoredReplay.Progress(bounds: range, next: range.lowerBound)
        }
        return try connection.transaction { (connection: inout Connection) throws(DeadLettersError) in
            try database { () throws(PostgresError) in
                let rows = try connection.query("SELECT gen_random_uuid(), now()")
                let replay = StoredReplay(
                    id: try rows.id(0, 0),
                    topic: held.bounds.topic,
                    operator: self.operator,
                    filter: filter,
                    rules: rules,
                    state: .running,
                    tally: ReplayTally(),
                    startedAt: Timestamp(milliseconds: try rows.timestampMilliseconds(0, 1)),
                    progress: progress
                )
                try ReplayBook.begin(replay, in: &connection)
                try write(.replayStarted, replay, in: &connection)
                return replay
            }
        }
    }

    private func goOn(
        _ id: UUIDBytes,
        _ source: LetterSource,
        _ held: Held,
        in connection: inout Connection
    ) throws(DeadLettersError) -> StoredReplay {
        let replay = try ReplayBook.find(id, in: &connection)
        guard replay.topic == source.topic else { throw .unknownReplay("\(id) of \(source.topic)") }
        guard replay.state != .done else { throw .replayDone(id.description) }
        for (partition, progress) in replay.progress {
            guard let range = held.bounds.ranges[partition], range.upperBound >= progress.bounds.upperBound
            else { throw .topicRecreated(replay.topic) }
        }
        try connection.transaction { (connection: inout Connection) throws(DeadLettersError) in
            try database { () throws(PostgresError) in
                try ReplayBook.end(id, as: .running, in: &connection)
                try write(.replayResumed, replay, in: &connection)
            }
        }
        return replay
    }

    private func finish(
        _ replay: StoredReplay,
        _ end: ReplayEnd,
        in connection: inout Connection
    ) throws(DeadLettersError) {
        // A database that has stopped the replay was waited for already.
        let isAway = if case .failed(let error) = end { error.postgresError != nil } else { false }
        try database { () throws(PostgresError) in
            try connection.ensureConnected(within: isAway ? .seconds(1) : .seconds(30))
        }
        try connection.transaction { (connection: inout Connection) throws(DeadLettersError) in
            try database { () throws(PostgresError) in
                try ReplayBook.end(replay.id, as: end.isDone ? .done : .stopped, in: &connection)
                try write(end.isDone ? .replayDone : .replayStopped, replay, end, in: &connection)
            }
        }
    }

    private func write(
        _ action: AuditBook.Action,
        _ replay: StoredReplay,
        _ end: ReplayEnd? = nil,
        in connection: inout Connection
    ) throws(PostgresError) {
        try AuditBook.add(
            action,
            by: self.operator,
            on: replay.topic,
            filter: replay.filter,
            replay: replay.id,
            to: &connection
        ) { writer in
            writer.member("purpose", replay.rules.purpose.rawValue)
            writer.member("forces_expired", replay.rules.forcesExpired)
            writer.member("maximum_replays", replay.rules.maximumReplays)
            guard let end else { return }
            writer.member("end", end.word)
            replay.tally.writeCounts(to: &writer)
        }
    }
}

extension ReplayRequest {
    var purpose: String {
        switch self {
        case .new(_, let rules): rules.purpose.rawValue
        case .resume: "replay resumed"
        }
    }
}
