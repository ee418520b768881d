internal import JSON
package import Postgres
package import Push

extension ReplayBook {
    /// Replays of a topic that were begun and are not done, the newest first.
    package static func unfinished(
        _ topic: String,
        in connection: inout Connection
    ) throws(DeadLettersError) -> [StoredReplay] {
        var ids: [UUIDBytes] = []
        do throws(PostgresError) {
            let rows = try connection.query(
                """
                SELECT replay_id FROM dead_letter_replays WHERE topic = $1 AND state <> 'done'
                ORDER BY started_at DESC LIMIT 100
                """,
                [.text(topic)]
            )
            for row in 0..<rows.count { ids.append(try rows.id(row, 0)) }
        } catch {
            throw .database(error)
        }
        var replays: [StoredReplay] = []
        for id in ids { replays.append(try find(id, in: &connection)) }
        return replays
    }

    /// - Throws: ``DeadLettersError/unknownReplay(_:)``; ``DeadLettersError/unreadableReplay(_:problem:)``.
    package static func find(
        _ id: UUIDBytes,
        in connection: inout Connection
    ) throws(DeadLettersError) -> StoredReplay {
        let found: Row?
        let progress: [Int32: StoredReplay.Progress]
        do throws(PostgresError) {
            found = try Row(id, in: &connection)
            progress = try Self.progress(of: id, in: &connection)
        } catch {
            throw .database(error)
        }
        guard let row = found else { throw .unknownReplay(id.description) }
        do throws(ReadError) {
            return StoredReplay(
                id: id,
                topic: row.topic,
                operator: row.operator,
                filter: try Self.read(row.filter) { reader throws(ReadError) in try DeadLetterFilter(&reader)
                },
                rules: try Self.read(row.rules) { reader throws(ReadError) in try ReplayRules(&reader) },
                state: StoredReplay.State(rawValue: row.state) ?? .done,
                tally: try Self.read(row.tally) { reader throws(ReadError) in try ReplayTally(&reader) },
                startedAt: Timestamp(milliseconds: row.startedAt),
                progress: progress
            )
        } catch {
            throw .unreadableReplay(id.description, problem: "\(error)")
        }
    }

    private static func read<Value>(
        _ text: String,
        _ body: (inout Reader) throws(ReadError) -> Value
    ) throws(ReadError) -> Value {
        try Reader.read(Array(text.utf8), body)
    }

    /// A row of `dead_letter_replays`.
    private struct Row {
        let topic: String
        let `operator`: String
        let filter: String
        let rules: String
        let state: String
        let tally: String
        let startedAt: Int64

        /// Nil if there is no such replay.
        init?(_ id: UUIDBytes, in connection: inout Connection) throws(PostgresError) {
            let rows = try connection.query(
                """
                SELECT topic, operator, filter, rules, state, tally, started_at FROM dead_letter_replays
                WHERE replay_id = $1
                """,
                [.uuid(id.bytes)]
            )
            guard rows.count == 1 else { return nil }
            topic = try rows.text(0, 0)
            `operator` = try rows.text(0, 1)
            filter = try rows.text(0, 2)
            rules = try rows.text(0, 3)
            state = try rows.text(0, 4)
            tally = try rows.text(0, 5)
            startedAt = try rows.timestampMilliseconds(0, 6)
        }
    }

    private static func progress(
        of id: UUIDBytes,
        in connection: inout Connection
    ) throws(PostgresError) -> [Int32: StoredReplay.Progress] {
        let rows = try connection.query(
            """
            SELECT partition, first_offset, end_offset, next_offset, pending_offset FROM dead_letter_replay_progress
            WHERE replay_id = $1
            """,
            [.uuid(id.bytes)]
        )
        var progress: [Int32: StoredReplay.Progress] = [:]
        for row in 0..<rows.count {
            let (first, end) = (try rows.int8(row, 1), try rows.int8(row, 2))
            progress[try rows.int4(row, 0)] = StoredReplay.Progress(
                bounds: first..<max(first, end),
                next: try rows.int8(row, 3),
                pending: try rows.int8IfPresent(row, 4)
            )
        }
        return progress
    }
}

extension Rows {
    /// A column of type uuid.
    func id(_ row: Int, _ column: Int) throws(PostgresError) -> UUIDBytes {
        let bytes = try uuid(row, column)
        guard let id = UUIDBytes(bytes: bytes.span) else {
            throw PostgresError(.decoding(column: name(of: column)), "a UUID has not 16 bytes")
        }
        return id
    }
}
