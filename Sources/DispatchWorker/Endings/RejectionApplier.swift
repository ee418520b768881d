internal import Postgres
internal import Push

/// Deletes the pushers whose keys their gateways have rejected; the most dangerous thing that a lane does.
///
/// Here come only rejections that an answer from the gateway of the record has made for the key of the record (``AnswerReader``). Of these a
/// pusher is deleted unless it was registered anew after the notification was made: a device that has just registered is not dead.
/// Rows are locked in the order of their keys, so that lanes that delete and workers that move key chains do not deadlock.
struct RejectionApplier {
    /// $1 user ids, $2 pusher ids, $3 registrations.
    static let statement = """
        WITH rejected AS MATERIALIZED (
            SELECT * FROM unnest($1::text[], $2::uuid[], $3::timestamptz[]) AS r (user_id, pusher_id, registered)
        ), locked AS MATERIALIZED (
            SELECT p.user_id, p.pusher_id FROM rejected r JOIN pushers p USING (user_id, pusher_id)
            WHERE p.registered_at <= r.registered
            ORDER BY p.user_id, p.pusher_id
            FOR UPDATE OF p
        )
        DELETE FROM pushers p USING locked l WHERE p.user_id = l.user_id AND p.pusher_id = l.pusher_id
        """

    private(set) var tickets: [Ticket] = []
    private var users = ArrayParameter(of: .text)
    private var pushers = ArrayParameter(of: .uuid)
    private var registrations = ArrayParameter(of: .timestamptz)

    var isEmpty: Bool { tickets.isEmpty }

    mutating func removeAll() {
        tickets.removeAll(keepingCapacity: true)
        users.removeAll()
        pushers.removeAll()
        registrations.removeAll()
    }

    /// Adds the pusher of a rejected record.
    ///
    /// - Returns: false if the record does not say whose it is; it cannot have been sent then.
    mutating func add(_ ticket: Ticket, _ outgoing: Outgoing) -> Bool {
        guard let pusher = outgoing.pusher, let user = outgoing.user, let registered = outgoing.registered
        else { return false }
        tickets.append(ticket)
        users.append(text: user.span)
        var bytes: [UInt8] = []
        pusher.uuid.appendBytes(to: &bytes)
        pushers.append(uuid: bytes)
        registrations.append(timestampMilliseconds: registered)
        return true
    }

    /// Deletes them all in one statement; tries again when somebody was in the way.
    ///
    /// - Returns: how many pushers were deleted; fewer than added when some were gone or registered anew.
    func apply(to connection: inout Connection) throws(PostgresError) -> Int {
        var parameters = Parameters()
        parameters.append(users)
        parameters.append(pushers)
        parameters.append(registrations)
        return try connection.transaction(attempts: 3) {
            (connection: inout Connection) throws(PostgresError) in
            try connection.execute(Self.statement, parameters)
        }
    }
}
