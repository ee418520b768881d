package import JSON
package import Postgres
package import Push

/// What was done with dead letters, and by whom: only ever added to.
package enum AuditBook {
    /// The closed set of what is written down.
    package enum Action: String, Hashable, Sendable, CaseIterable {
        case replayStarted = "replay_started"
        case replayResumed = "replay_resumed"
        case replayStopped = "replay_stopped"
        case replayDone = "replay_done"
        case park
        case export
        case `import`
        case purge
    }

    package struct Entry: Sendable, Hashable {
        package var at: Timestamp
        package var `operator`: String
        package var action: String
        package var topic: String
        /// A UUID as text.
        package var replay: String?
        /// JSON.
        package var filter: String
        /// JSON.
        package var outcome: String
    }

    /// Adds an entry; `outcome` writes the members of a JSON object: counts and switches, nothing of any letter's.
    package static func add(
        _ action: Action,
        by name: String,
        on topic: String,
        filter: DeadLetterFilter,
        replay: UUIDBytes? = nil,
        to connection: inout Connection,
        outcome: (inout Writer) -> Void
    ) throws(PostgresError) {
        try connection.execute(
            """
            INSERT INTO dead_letter_audit (operator, action, topic, replay_id, filter, outcome)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .text(name), .text(action.rawValue), .text(topic), .uuid(replay?.bytes),
                .text(filter.json), .text(Writer.text { $0.object(outcome) }),
            ]
        )
    }

    /// The newest entries, newest first: of one topic or of all, from a moment on or from the beginning.
    package static func newest(
        _ limit: Int,
        topic: String? = nil,
        since: Timestamp? = nil,
        from connection: inout Connection
    ) throws(DeadLettersError) -> [Entry] {
        do throws(PostgresError) {
            let rows = try connection.query(
                """
                SELECT at, operator, action, topic, replay_id::text, filter, outcome FROM dead_letter_audit
                WHERE ($1::text IS NULL OR topic = $1) AND ($2::timestamptz IS NULL OR at >= $2)
                ORDER BY entry DESC LIMIT $3
                """,
                [.text(topic), .timestampMilliseconds(since?.milliseconds), .int8(Int64(limit))]
            )
            var entries: [Entry] = []
            for row in 0..<rows.count {
                entries.append(
                    Entry(
                        at: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 0)),
                        operator: try rows.text(row, 1),
                        action: try rows.text(row, 2),
                        topic: try rows.text(row, 3),
                        replay: try rows.textIfPresent(row, 4),
                        filter: try rows.text(row, 5),
                        outcome: try rows.text(row, 6)
                    )
                )
            }
            return entries
        } catch {
            throw .database(error)
        }
    }
}

extension Desk {
    /// Writes down what was done without the help of this room: what left it, or came in.
    package func note(
        _ action: AuditBook.Action,
        on topic: String,
        filter: DeadLetterFilter = DeadLetterFilter(),
        in connection: inout Connection,
        outcome: (inout Writer) -> Void
    ) throws(DeadLettersError) {
        do throws(PostgresError) {
            try AuditBook.add(
                action,
                by: self.operator,
                on: topic,
                filter: filter,
                to: &connection,
                outcome: outcome
            )
        } catch {
            throw .database(error)
        }
    }
}

extension DeadLetterFilter {
    /// As it is stored.
    var json: String { Writer.text { write(to: &$0) } }
}

extension UUIDBytes {
    /// As the database takes them.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        appendBytes(to: &bytes)
        return bytes
    }
}
