internal import Postgres
internal import Push

/// Rows are made, change their state and go.
extension OpenRejections {
    /// $1 user ids, $2 pusher ids, $3 origins, $4 apps, $5 states, $6 causes, $7 registrations, $8 notifications, $9 rejections,
    /// $10 accepted, $11 rejected, $12 now.
    private static let writeStatement = """
        INSERT INTO open_rejections AS o (
            user_id, pusher_id, gateway_origin, app_id, state, cause, registered_at, notification_id, rejections,
            accepted_since, rejected_since, first_rejected_at, rejected_at
        )
        SELECT r.*, $12::timestamptz, $12::timestamptz FROM unnest(
            $1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::uuid[],
            $9::int4[], $10::int8[], $11::int8[]
        ) AS r
        ON CONFLICT (user_id, pusher_id) DO UPDATE SET
            gateway_origin = excluded.gateway_origin, app_id = excluded.app_id, state = excluded.state,
            cause = excluded.cause, notification_id = excluded.notification_id, rejections = excluded.rejections,
            successes = 0, accepted_since = excluded.accepted_since, rejected_since = excluded.rejected_since,
            first_rejected_at = CASE WHEN o.registered_at = excluded.registered_at THEN o.first_rejected_at
                ELSE excluded.first_rejected_at END,
            registered_at = excluded.registered_at, rejected_at = excluded.rejected_at
        """

    static func write(
        _ rows: [Row],
        at now: Timestamp,
        to connection: inout Connection
    ) throws(PostgresError) {
        guard !rows.isEmpty else { return }
        var columns = [
            ArrayParameter(of: .text), ArrayParameter(of: .uuid), ArrayParameter(of: .text),
            ArrayParameter(of: .text), ArrayParameter(of: .text), ArrayParameter(of: .text),
            ArrayParameter(of: .timestamptz), ArrayParameter(of: .uuid), ArrayParameter(of: .int4),
            ArrayParameter(of: .int8), ArrayParameter(of: .int8),
        ]
        for row in rows {
            columns[0].append(text: row.user.span)
            columns[1].append(row.pusher)
            columns[2].append(text: row.gate.origin)
            columns[3].append(text: row.gate.app)
            columns[4].append(text: row.state.rawValue)
            columns[5].append(text: row.cause?.rawValue)
            columns[6].append(timestampMilliseconds: row.registered)
            columns[7].append(uuid: row.notification.span)
            columns[8].append(int4: Int32(clamping: row.rejections))
            columns[9].append(int8: Int64(row.answer.accepted))
            columns[10].append(int8: Int64(row.answer.rejected))
        }
        var parameters = Parameters()
        for column in columns { parameters.append(column) }
        parameters.append(timestampMilliseconds: now.milliseconds)
        try connection.execute(writeStatement, parameters)
    }

    /// Holds rows that waited.
    static func hold(
        _ rows: [(user: [UInt8], pusher: PusherID, cause: HoldCause)],
        on connection: inout Connection
    ) throws(PostgresError) {
        guard !rows.isEmpty else { return }
        let (users, pushers) = columns(rows.map { ($0.user, $0.pusher) })
        try connection.execute(
            """
            UPDATE open_rejections o SET state = 'held', cause = h.cause
            FROM unnest($1::text[], $2::uuid[], $3::text[]) AS h (user_id, pusher_id, cause)
            WHERE o.user_id = h.user_id AND o.pusher_id = h.pusher_id
            """,
            [.array(users), .array(pushers), .array(ArrayParameter(text: rows.map(\.cause.rawValue)))]
        )
    }

    /// Forgets rows about registrations that are not the present ones.
    static func forget(
        _ rows: [(user: [UInt8], pusher: PusherID)],
        on connection: inout Connection
    ) throws(PostgresError) {
        guard !rows.isEmpty else { return }
        let (users, pushers) = columns(rows)
        try connection.execute(
            """
            DELETE FROM open_rejections o USING unnest($1::text[], $2::uuid[]) AS f (user_id, pusher_id)
            WHERE o.user_id = f.user_id AND o.pusher_id = f.pusher_id
            """,
            [.array(users), .array(pushers)]
        )
    }

    /// Forgets what is held against registrations that were made anew since.
    static func forgetStale(
        of gate: RejectionGateKey,
        on connection: inout Connection
    ) throws(PostgresError) {
        try connection.execute(
            """
            DELETE FROM open_rejections o USING pushers p
            WHERE o.gateway_origin = $1 AND o.app_id = $2 AND p.user_id = o.user_id AND p.pusher_id = o.pusher_id
                AND p.registered_at > o.registered_at
            """,
            [.text(gate.origin), .text(gate.app)],
            timeout: .seconds(600)
        )
    }

    /// The keys of rows, as `unnest` takes them.
    private static func columns(
        _ rows: [(user: [UInt8], pusher: PusherID)]
    ) -> (users: ArrayParameter, pushers: ArrayParameter) {
        var users = ArrayParameter(of: .text)
        var pushers = ArrayParameter(of: .uuid)
        for row in rows {
            users.append(text: row.user.span)
            pushers.append(row.pusher)
        }
        return (users, pushers)
    }
}
