package import Postgres
internal import Push

/// The right to work on a topic's dead letters: one process at a time, whoever runs it.
///
/// A row that must be renewed: a holder that was killed loses it when its lease is over, by the database's clock. Whoever holds it for
/// longer than a step renews it in the same transaction as the step's result; a step of one that has lost it is not written.
package struct TopicLock: Sendable, Hashable {
    package let topic: String
    /// 16 random bytes.
    let holder: [UInt8]
    let lease: Duration

    package static let defaultLease = Duration.seconds(60)

    /// Takes the lock of a topic of dead letters, if it is free or its holder shows no life.
    ///
    /// The operator's name and the purpose, a word or two, are for whoever finds it taken. Throws ``DeadLettersError/locked(topic:holder:)``.
    package static func take(
        _ topic: String,
        operator name: String,
        purpose: String,
        lease: Duration = defaultLease,
        in connection: inout Connection
    ) throws(DeadLettersError) -> TopicLock {
        do throws(PostgresError) {
            let rows = try connection.query(
                """
                INSERT INTO dead_letter_locks AS l (topic, holder, operator, purpose, expires_at)
                VALUES ($1, gen_random_uuid(), $2, $3, now() + $4 * interval '1 millisecond')
                ON CONFLICT (topic) DO UPDATE SET holder = excluded.holder, operator = excluded.operator,
                    purpose = excluded.purpose, taken_at = now(), expires_at = excluded.expires_at
                    WHERE l.expires_at <= now()
                RETURNING holder
                """,
                [.text(topic), .text(name), .text(purpose), .float8(Self.milliseconds(lease))]
            )
            if rows.count == 1 {
                return TopicLock(topic: topic, holder: try rows.uuid(0, 0), lease: lease)
            }
        } catch {
            throw .database(error)
        }
        throw .locked(topic: topic, holder: try found(topic, in: &connection))
    }

    /// Whether anybody works on the topic now.
    package static func isHeld(_ topic: String, in connection: inout Connection) throws(PostgresError) -> Bool
    {
        try connection.query(
            "SELECT FROM dead_letter_locks WHERE topic = $1 AND expires_at > now()",
            [.text(topic)]
        ).count > 0
    }

    /// Keeps it for another lease.
    ///
    /// - Returns: false if it is somebody else's by now, or nobody's.
    package func renew(in connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.execute(
            """
            UPDATE dead_letter_locks SET expires_at = now() + $3 * interval '1 millisecond'
            WHERE topic = $1 AND holder = $2 AND expires_at > now()
            """,
            [.text(topic), .uuid(holder), .float8(Self.milliseconds(lease))]
        ) == 1
    }

    /// Renews it, or ends what it is for.
    package func insist(in connection: inout Connection) throws(DeadLettersError) {
        let isKept = try database { () throws(PostgresError) in try renew(in: &connection) }
        if !isKept { throw .lockLost(topic: topic) }
    }

    /// Gives it back; nothing if it is lost already.
    package func release(in connection: inout Connection) throws(DeadLettersError) {
        do throws(PostgresError) {
            try connection.execute(
                "DELETE FROM dead_letter_locks WHERE topic = $1 AND holder = $2",
                [.text(topic), .uuid(holder)]
            )
        } catch {
            throw .database(error)
        }
    }

    private static func found(
        _ topic: String,
        in connection: inout Connection
    ) throws(DeadLettersError) -> LockHolder {
        do throws(PostgresError) {
            let rows = try connection.query(
                "SELECT operator, purpose, taken_at, expires_at FROM dead_letter_locks WHERE topic = $1",
                [.text(topic)]
            )
            guard rows.count == 1 else {
                // Given back between the two questions.
                let epoch = Timestamp(milliseconds: 0)
                return LockHolder(operator: "somebody", purpose: "done by now", since: epoch, expires: epoch)
            }
            return LockHolder(
                operator: try rows.text(0, 0),
                purpose: try rows.text(0, 1),
                since: Timestamp(milliseconds: try rows.timestampMilliseconds(0, 2)),
                expires: Timestamp(milliseconds: try rows.timestampMilliseconds(0, 3))
            )
        } catch {
            throw .database(error)
        }
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1000 + Double(attoseconds) / 1e15
    }
}
