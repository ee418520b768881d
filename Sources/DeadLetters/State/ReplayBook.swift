internal import Postgres
internal import Push

/// Replays in the database: begun, gone on with, and the one step at a time that may be under way.
///
/// ```
/// step:   announce (pending) ─▶ Kafka commits ─▶ settle (in force)
/// killed: resolve: pending in force if Kafka's committed offset says so, else void
/// ```
///
/// So a step is written down before Kafka commits it, and is in force exactly when Kafka has: no letter is sent twice, none is skipped.
package enum ReplayBook {
    // MARK: - Beginning

    static func begin(
        _ replay: StoredReplay,
        in connection: inout Connection
    ) throws(PostgresError) {
        try connection.execute(
            """
            INSERT INTO dead_letter_replays (replay_id, topic, operator, filter, rules, tally) VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .uuid(replay.id.bytes), .text(replay.topic), .text(replay.operator),
                .text(replay.filter.json), .text(replay.rules.json), .text(replay.tally.json),
            ]
        )
        var partitions = ArrayParameter(of: .int4)
        var firsts = ArrayParameter(of: .int8)
        var ends = ArrayParameter(of: .int8)
        for (partition, progress) in replay.progress.sorted(by: { $0.key < $1.key }) {
            partitions.append(int4: partition)
            firsts.append(int8: progress.bounds.lowerBound)
            ends.append(int8: progress.bounds.upperBound)
        }
        try connection.execute(
            """
            INSERT INTO dead_letter_replay_progress (replay_id, partition, first_offset, end_offset, next_offset)
            SELECT $1, partition, first_offset, end_offset, first_offset
            FROM unnest($2::int4[], $3::int8[], $4::int8[]) AS p (partition, first_offset, end_offset)
            """,
            [.uuid(replay.id.bytes), .array(partitions), .array(firsts), .array(ends)]
        )
    }

    // MARK: - Steps

    /// Writes down what will hold once Kafka has committed it.
    static func announce(
        _ step: PendingStep,
        of replay: UUIDBytes,
        in connection: inout Connection
    ) throws(PostgresError) {
        try connection.execute(
            "UPDATE dead_letter_replays SET pending_tally = $2, updated_at = now() WHERE replay_id = $1",
            [.uuid(replay.bytes), .text(step.tally.json)]
        )
        var partitions = ArrayParameter(of: .int4)
        var next = ArrayParameter(of: .int8)
        var replayed = ArrayParameter(of: .text)
        var parked = ArrayParameter(of: .text)
        for (partition, offset) in step.next.sorted(by: { $0.key < $1.key }) {
            partitions.append(int4: partition)
            next.append(int8: offset)
            replayed.append(text: (step.replayed[partition] ?? OffsetRanges()).text)
            parked.append(text: (step.parked[partition] ?? OffsetRanges()).text)
        }
        try connection.execute(
            """
            UPDATE dead_letter_replay_progress r SET pending_offset = s.next_offset,
                pending_replayed = s.replayed::int8multirange, pending_parked = s.parked::int8multirange
            FROM unnest($2::int4[], $3::int8[], $4::text[], $5::text[]) AS s (partition, next_offset, replayed, parked)
            WHERE r.replay_id = $1 AND r.partition = s.partition
            """,
            [
                .uuid(replay.bytes), .array(partitions), .array(next), .array(replayed), .array(parked),
            ]
        )
    }

    /// Puts the announced step into force.
    static func settle(_ replay: UUIDBytes, in connection: inout Connection) throws(PostgresError) {
        for (disposition, column) in [("replayed", "pending_replayed"), ("parked", "pending_parked")] {
            try connection.execute(
                """
                INSERT INTO dead_letter_dispositions AS d (topic, partition, disposition, offsets)
                SELECT r.topic, p.partition, '\(disposition)', p.\(column)
                FROM dead_letter_replay_progress p JOIN dead_letter_replays r USING (replay_id)
                WHERE p.replay_id = $1 AND p.pending_offset IS NOT NULL AND NOT isempty(p.\(column))
                ON CONFLICT (topic, partition, disposition) DO UPDATE SET offsets = d.offsets + excluded.offsets
                """,
                [.uuid(replay.bytes)]
            )
        }
        try connection.execute(
            """
            UPDATE dead_letter_replay_progress SET next_offset = pending_offset, pending_offset = NULL,
                pending_replayed = '{}', pending_parked = '{}'
            WHERE replay_id = $1 AND pending_offset IS NOT NULL
            """,
            [.uuid(replay.bytes)]
        )
        try connection.execute(
            """
            UPDATE dead_letter_replays SET tally = coalesce(pending_tally, tally), pending_tally = NULL, updated_at = now()
            WHERE replay_id = $1
            """,
            [.uuid(replay.bytes)]
        )
    }

    /// Drops the announced step, of which Kafka has committed nothing.
    static func drop(_ replay: UUIDBytes, in connection: inout Connection) throws(PostgresError) {
        try connection.execute(
            """
            UPDATE dead_letter_replay_progress SET pending_offset = NULL, pending_replayed = '{}', pending_parked = '{}'
            WHERE replay_id = $1 AND pending_offset IS NOT NULL
            """,
            [.uuid(replay.bytes)]
        )
        try connection.execute(
            "UPDATE dead_letter_replays SET pending_tally = NULL WHERE replay_id = $1",
            [.uuid(replay.bytes)]
        )
    }

    static func end(
        _ replay: UUIDBytes,
        as state: StoredReplay.State,
        in connection: inout Connection
    ) throws(PostgresError) {
        try connection.execute(
            "UPDATE dead_letter_replays SET state = $2, updated_at = now() WHERE replay_id = $1",
            [.uuid(replay.bytes), .text(state.rawValue)]
        )
    }
}
