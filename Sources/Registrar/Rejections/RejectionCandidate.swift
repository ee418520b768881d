internal import Postgres
internal import Push

/// A pusher that is said to be dead and is still registered as it was, with what is held against it already; its row is locked.
struct RejectionCandidate {
    var state: OpenRejections.State?
    var cause: HoldCause?
    var earlier: Confirmations.Earlier?

    /// Since when it is held because nothing bore its rejection out.
    var unprovenSince: Timestamp? {
        state == .held && cause == .unproven ? earlier?.rejectedAt : nil
    }

    /// $1 user ids, $2 pusher ids, $3 registrations.
    private static let statement = """
        SELECT p.pusher_id, o.state, o.cause, o.rejections, o.rejected_at
        FROM unnest($1::text[], $2::uuid[], $3::timestamptz[]) AS r (user_id, pusher_id, registered)
        JOIN pushers p USING (user_id, pusher_id)
        LEFT JOIN open_rejections o
            ON o.user_id = p.user_id AND o.pusher_id = p.pusher_id AND o.registered_at >= p.registered_at
        WHERE p.registered_at <= r.registered
        ORDER BY p.user_id, p.pusher_id
        FOR UPDATE OF p
        """

    /// Locks the pushers that are still registered as they were, in the order of their key.
    static func lock(
        _ rejections: [RejectionFlush.Rejection],
        _ waiting: [OpenRejections.Waiting],
        on connection: inout Connection
    ) throws(PostgresError) -> [PusherID: RejectionCandidate] {
        guard !rejections.isEmpty || !waiting.isEmpty else { return [:] }
        var users = ArrayParameter(of: .text)
        var pushers = ArrayParameter(of: .uuid)
        var registrations = ArrayParameter(of: .timestamptz)
        let waiting = waiting.map { ($0.user, $0.pusher, $0.registered) }
        for (user, pusher, registered) in rejections.map({ ($0.user, $0.pusher, $0.registered) }) + waiting {
            users.append(text: user.span)
            pushers.append(pusher)
            registrations.append(timestampMilliseconds: registered)
        }
        let rows = try connection.query(
            statement,
            [.array(users), .array(pushers), .array(registrations)]
        )
        var candidates: [PusherID: RejectionCandidate] = [:]
        for row in 0..<rows.count {
            var candidate = RejectionCandidate()
            if let state = try rows.textIfPresent(row, 1) {
                candidate.state = OpenRejections.State(rawValue: state)
                candidate.cause = try rows.textIfPresent(row, 2).flatMap { HoldCause(rawValue: $0) }
                candidate.earlier = Confirmations.Earlier(
                    rejections: Int(try rows.int4(row, 3)),
                    rejectedAt: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 4))
                )
            }
            candidates[try PusherID(rows, row, 0)] = candidate
        }
        return candidates
    }
}
