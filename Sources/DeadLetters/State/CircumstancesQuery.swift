package import Postgres
internal import Push

/// Asks the database what letters need to be judged: one round trip for a batch of them, by user.
package struct CircumstancesQuery: Sendable {
    /// $1 user ids, $2 pusher ids.
    ///
    /// A subquery for each letter (`OFFSET 0` keeps the planner from merging it into a join over the whole table): one index path, the
    /// primary key, whatever the statistics say.
    static let pushers = """
        SELECT l.pusher_id, p.chain_month, p.registered_at
        FROM unnest($1::text[], $2::uuid[]) AS l (user_id, pusher_id)
        CROSS JOIN LATERAL (
            SELECT chain_month, registered_at FROM pushers
            WHERE pushers.user_id = l.user_id AND pushers.pusher_id = l.pusher_id
            OFFSET 0
        ) p
        """
    static let gateways = "SELECT origin FROM gateways"
    static let channels = "SELECT channel_id FROM channels"
    static let types = "SELECT trigger_type FROM trigger_types"

    private var users = ArrayParameter(of: .text)
    private var ids = ArrayParameter(of: .uuid)

    package init() {}

    package mutating func run(
        _ letters: [Letter],
        on connection: inout Connection
    ) throws(DeadLettersError) -> Circumstances {
        users.removeAll()
        ids.removeAll()
        var bytes: [UInt8] = []
        for letter in letters {
            guard case .notification(let notification) = letter.subject else { continue }
            users.append(text: notification.user.span)
            bytes.removeAll(keepingCapacity: true)
            notification.pusher.uuid.appendBytes(to: &bytes)
            ids.append(uuid: bytes)
        }
        do throws(PostgresError) {
            return ids.count > 0 ? try notifications(&connection) : try events(&connection)
        } catch {
            throw .database(error)
        }
    }

    private func notifications(_ connection: inout Connection) throws(PostgresError) -> Circumstances {
        var pipeline = Pipeline(transaction: false)
        pipeline.append(Self.pushers, [.array(users), .array(ids)])
        pipeline.append(Self.gateways)
        var results = try connection.run(pipeline)
        var facts = Circumstances()
        let rows = try results.take(0)
        for row in 0..<rows.count {
            let id = try rows.uuid(row, 0)
            guard let pusher = PusherID(bytes: id.span) else { continue }
            facts.pushers[pusher] = Circumstances.Pusher(
                chainMonth: try rows.int4IfPresent(row, 1).flatMap { Month(ordinal: $0) },
                registered: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 2))
            )
        }
        let gateways = try results.take(1)
        for row in 0..<gateways.count { facts.gateways.insert(try gateways.text(row, 0)) }
        return facts
    }

    private func events(_ connection: inout Connection) throws(PostgresError) -> Circumstances {
        var pipeline = Pipeline(transaction: false)
        pipeline.append(Self.channels)
        pipeline.append(Self.types)
        var results = try connection.run(pipeline)
        var facts = Circumstances()
        let channels = try results.take(0)
        for row in 0..<channels.count { facts.channels.insert(Array(try channels.text(row, 0).utf8)) }
        let types = try results.take(1)
        for row in 0..<types.count { facts.types.insert(Array(try types.text(row, 0).utf8)) }
        return facts
    }
}
