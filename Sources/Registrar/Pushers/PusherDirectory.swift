package import Postgres

/// Which pushers are meant; what is nil does not matter, the rest holds together.
package struct PusherFilter: Sendable, Equatable {
    package var user: String?
    package var app: String?
    package var pushkey: String?
    /// A gateway's origin.
    package var gateway: String?

    package init(user: String? = nil, app: String? = nil, pushkey: String? = nil, gateway: String? = nil) {
        self.user = user
        self.app = app
        self.pushkey = pushkey
        self.gateway = gateway
    }

    /// The condition, and the values of its `$1` and so on; only what is asked for, so that an index fits.
    fileprivate var condition: (sql: String, parameters: Parameters) {
        var terms: [String] = []
        var parameters = Parameters()
        for (column, value) in [
            ("user_id", user), ("app_id", app), ("pushkey", pushkey), ("gateway_origin", gateway),
        ] {
            guard let value else { continue }
            parameters.append(text: value)
            terms.append("\(column) = $\(parameters.count)")
        }
        return (terms.isEmpty ? "true" : terms.joined(separator: " AND "), parameters)
    }
}

extension PusherFilter: CustomStringConvertible, CustomReflectable {
    /// Without the pushkey.
    package var description: String {
        [
            user.map { "user=\($0)" }, app.map { "app=\($0)" }, pushkey.map { _ in "pushkey=redacted" },
            gateway.map { "gateway=\($0)" },
        ].compactMap { $0 }.joined(separator: " ")
    }

    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// What an operator asks about pushers, and takes away by hand.
package enum PusherDirectory {
    /// How many there are; counting them all reads a whole index.
    package static func count(
        _ filter: PusherFilter,
        in connection: inout Connection
    ) throws(RegistrarError) -> Int64 {
        let (condition, parameters) = filter.condition
        return try database { () throws(PostgresError) in
            try connection.query(
                "SELECT count(*) FROM pushers WHERE \(condition)",
                parameters,
                timeout: .seconds(3600)
            ).int8(0, 0)
        }
    }

    /// Deletes pushers with their keys and channel settings.
    ///
    /// - Parameters:
    ///   - user: whose pushers; never everybody's.
    ///   - device: of which app and pushkey only; nil for all.
    ///   - connection: the database.
    /// - Returns: how many there were.
    /// - Throws: ``RegistrarError/database(_:)``, and all are still there.
    package static func remove(
        user: String,
        device: (app: String, pushkey: String)?,
        from connection: inout Connection
    ) throws(RegistrarError) -> Int {
        let filter = PusherFilter(user: user, app: device?.app, pushkey: device?.pushkey)
        let (condition, parameters) = filter.condition
        // Locked in the order of the key first: a worker may be moving the same user's chains.
        return try connection.transaction(attempts: 5) {
            (connection: inout Connection) throws(RegistrarError) in
            try database { () throws(PostgresError) in
                try connection.execute(
                    """
                    WITH gone AS MATERIALIZED (
                        SELECT user_id, pusher_id FROM pushers WHERE \(condition)
                        ORDER BY user_id, pusher_id FOR UPDATE
                    )
                    DELETE FROM pushers p USING gone
                    WHERE p.user_id = gone.user_id AND p.pusher_id = gone.pusher_id
                    """,
                    parameters
                )
            }
        }
    }
}
