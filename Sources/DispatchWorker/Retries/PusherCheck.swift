internal import Postgres
internal import Push

/// Asks of many pushers at once which are gone: before a retry, since a device may have been signed off since the message was made.
struct PusherCheck {
    /// $1 user ids, $2 pusher ids; the places of those that are gone, counted from 1.
    private static let statement = """
        SELECT asked.place FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS asked (user_id, pusher_id, place)
        WHERE NOT EXISTS (
            SELECT FROM pushers p WHERE p.user_id = asked.user_id AND p.pusher_id = asked.pusher_id
        )
        """

    private var users = ArrayParameter(of: .text)
    private var pushers = ArrayParameter(of: .uuid)

    var count: Int { users.count }

    mutating func removeAll() {
        users.removeAll()
        pushers.removeAll()
    }

    /// Adds the pusher of a record that can be sent, which names both.
    mutating func add(_ outgoing: Outgoing) {
        let user = outgoing.user ?? []
        users.append(text: user.span)
        var bytes: [UInt8] = []
        (outgoing.pusher ?? PusherID(UUIDBytes(high: 0, low: 0))).uuid.appendBytes(to: &bytes)
        pushers.append(uuid: bytes)
    }

    /// - Returns: which of those added are gone, by the order in which they were added.
    func gone(_ connection: inout Connection) throws(PostgresError) -> Set<Int> {
        var parameters = Parameters()
        parameters.append(users)
        parameters.append(pushers)
        let rows = try connection.query(Self.statement, parameters)
        var gone: Set<Int> = []
        for row in 0..<rows.count { gone.insert(Int(try rows.int8(row, 0)) - 1) }
        return gone
    }
}
