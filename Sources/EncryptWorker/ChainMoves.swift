internal import Postgres
internal import Push

/// The key chains that a batch moved to a new month, to be written back before the batch is committed.
///
/// The rows are locked in the order of their keys, so that two workers which move the same thousand chains at midnight on the first
/// do not deadlock. A row is written only while it still holds exactly the chain that was moved: whoever came first wrote the same keys, since
/// the same steps give the same keys, and a registration that came in between must not be overwritten by its predecessor.
struct ChainMoves {
    private struct Move {
        var user: [UInt8]
        var pusher: PusherID
        var old: [UInt8]
        var month: Month
        var keyID: String
        var sealed: [UInt8]
    }

    private var moves: [Move] = []
    private var seen: Set<PusherID> = []

    /// $1 user ids, $2 pusher ids, $3 old chains, $4 new months, $5 key ids, $6 new chains.
    static let statement = """
        WITH moved AS MATERIALIZED (
            SELECT * FROM unnest($1::text[], $2::uuid[], $3::bytea[], $4::int4[], $5::text[], $6::bytea[])
                AS m (user_id, pusher_id, old_chain, month, key_id, new_chain)
        ), locked AS MATERIALIZED (
            SELECT p.user_id, p.pusher_id FROM moved m JOIN pushers p USING (user_id, pusher_id)
            WHERE p.chain_sealed = m.old_chain
            ORDER BY p.user_id, p.pusher_id
            FOR NO KEY UPDATE OF p
        )
        UPDATE pushers p
        SET chain_month = m.month, chain_key_id = m.key_id, chain_sealed = m.new_chain
        FROM moved m JOIN locked USING (user_id, pusher_id)
        WHERE p.user_id = m.user_id AND p.pusher_id = m.pusher_id AND p.chain_sealed = m.old_chain
        """

    var isEmpty: Bool { moves.isEmpty }
    var count: Int { moves.count }

    mutating func removeAll() {
        moves.removeAll(keepingCapacity: true)
        seen.removeAll(keepingCapacity: true)
    }

    /// Whether the move of this pusher is noted already, from an earlier event of the batch.
    func contains(_ pusher: PusherID) -> Bool { seen.contains(pusher) }

    mutating func note(
        user: [UInt8],
        pusher: PusherID,
        from old: [UInt8],
        to month: Month,
        under keyID: String,
        sealed: [UInt8]
    ) {
        guard seen.insert(pusher).inserted else { return }
        moves.append(Move(user: user, pusher: pusher, old: old, month: month, keyID: keyID, sealed: sealed))
    }

    /// Writes them all in one statement, which is a transaction of its own; tries again when another worker was in the way.
    ///
    /// - Returns: how many rows were written; fewer than noted when others were first.
    mutating func write(to connection: inout Connection) throws(PostgresError) -> Int {
        guard !moves.isEmpty else { return 0 }
        var users = ArrayParameter(of: .text)
        var pushers = ArrayParameter(of: .uuid)
        var old = ArrayParameter(of: .bytea)
        var months = ArrayParameter(of: .int4)
        var keys = ArrayParameter(of: .text)
        var chains = ArrayParameter(of: .bytea)
        var pusher: [UInt8] = []
        for move in moves {
            users.append(text: move.user.span)
            pusher.removeAll(keepingCapacity: true)
            move.pusher.uuid.appendBytes(to: &pusher)
            pushers.append(uuid: pusher.span)
            old.append(bytea: move.old.span)
            months.append(int4: move.month.ordinal)
            keys.append(text: move.keyID)
            chains.append(bytea: move.sealed.span)
        }
        var parameters = Parameters()
        parameters.append(users)
        parameters.append(pushers)
        parameters.append(old)
        parameters.append(months)
        parameters.append(keys)
        parameters.append(chains)
        return try connection.transaction(attempts: 5) {
            (connection: inout Connection) throws(PostgresError) in
            try connection.execute(Self.statement, parameters)
        }
    }
}
