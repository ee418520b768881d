package import Postgres
package import Push

/// Which held rejections are meant; what is nil does not matter, the rest holds together.
package struct RejectionFilter: Sendable, Equatable {
    /// A gateway's origin.
    package var gateway: String?
    package var app: String?
    /// Rejected then or later.
    package var since: Timestamp?

    package init(gateway: String? = nil, app: String? = nil, since: Timestamp? = nil) {
        self.gateway = gateway
        self.app = app
        self.since = since
    }

    /// $1 gateway, $2 app, $3 since; nulls for what does not matter.
    var parameters: Parameters {
        [.text(gateway), .text(app), .timestampMilliseconds(since?.milliseconds)]
    }
}

/// The rejections that the storm guard holds back, and what operators do about them.
///
/// Every change holds the gates of the rows, as lanes do. A pusher that registered anew since it was rejected is none of them.
package enum HeldRejections {
    /// One of them, with nothing that could be sent to.
    package struct Item: Sendable, Equatable {
        package let gateway: String
        package let app: String
        package let cause: HoldCause
        package let user: String
        package let pusher: PusherID
        /// The pushkey's first characters and its length.
        package let pushkey: String
        package let rejections: Int
        package let registeredAt: Timestamp
        package let firstRejectedAt: Timestamp
        package let rejectedAt: Timestamp
        package let notification: String
    }

    /// Those of one gateway, app and cause.
    package struct Group: Sendable, Equatable {
        package let gateway: String
        package let app: String
        package let cause: HoldCause
        package let count: Int64
        /// Since when the guard holds everything of this gateway and app; nil: it does not.
        package let holdingSince: Timestamp?
    }

    /// $1 gateway, $2 app, $3 since.
    static let condition = """
        o.state = 'held' AND p.registered_at <= o.registered_at AND ($1::text IS NULL OR o.gateway_origin = $1)
        AND ($2::text IS NULL OR o.app_id = $2) AND ($3::timestamptz IS NULL OR o.rejected_at >= $3)
        """

    // MARK: Looking

    /// Held rejections, the latest first.
    package static func list(
        _ filter: RejectionFilter,
        limit: Int,
        in connection: inout Connection
    ) throws(RegistrarError) -> [Item] {
        var parameters = filter.parameters
        parameters.append(int8: Int64(limit))
        return try database { () throws(PostgresError) in
            let rows = try connection.query(
                """
                SELECT o.gateway_origin, o.app_id, o.cause, pseudonym(o.user_id), o.pusher_id,
                    CASE WHEN octet_length(p.pushkey) >= 16 THEN left(p.pushkey, 4) ELSE '' END || '…('
                        || octet_length(p.pushkey) || ')',
                    o.rejections, o.registered_at, o.first_rejected_at, o.rejected_at, o.notification_id
                FROM open_rejections o JOIN pushers p USING (user_id, pusher_id) WHERE \(condition)
                ORDER BY o.rejected_at DESC, o.user_id, o.pusher_id LIMIT $4
                """,
                parameters,
                timeout: .seconds(600)
            )
            var items: [Item] = []
            for row in 0..<rows.count { items.append(try item(rows, row)) }
            return items
        }
    }

    private static func item(_ rows: borrowing Rows, _ row: Int) throws(PostgresError) -> Item {
        func moment(_ column: Int) throws(PostgresError) -> Timestamp {
            Timestamp(milliseconds: try rows.timestampMilliseconds(row, column))
        }
        return Item(
            gateway: try rows.text(row, 0),
            app: try rows.text(row, 1),
            cause: HoldCause(rawValue: try rows.text(row, 2)) ?? .unproven,
            user: try rows.text(row, 3),
            pusher: try PusherID(rows, row, 4),
            pushkey: try rows.text(row, 5),
            rejections: Int(try rows.int4(row, 6)),
            registeredAt: try moment(7),
            firstRejectedAt: try moment(8),
            rejectedAt: try moment(9),
            notification: try PusherID(rows, row, 10).description
        )
    }

    /// How many there are, by gateway, app and cause.
    package static func groups(
        _ filter: RejectionFilter,
        in connection: inout Connection
    ) throws(RegistrarError) -> [Group] {
        try database { () throws(PostgresError) in
            let rows = try connection.query(
                """
                SELECT o.gateway_origin, o.app_id, o.cause, count(*), max(g.holding_since)
                FROM open_rejections o JOIN pushers p USING (user_id, pusher_id)
                LEFT JOIN rejection_gates g ON g.gateway_origin = o.gateway_origin AND g.app_id = o.app_id
                WHERE \(condition)
                GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
                """,
                filter.parameters,
                timeout: .seconds(600)
            )
            var groups: [Group] = []
            for row in 0..<rows.count {
                let since = try rows.timestampMillisecondsIfPresent(row, 4)
                groups.append(
                    Group(
                        gateway: try rows.text(row, 0),
                        app: try rows.text(row, 1),
                        cause: HoldCause(rawValue: try rows.text(row, 2)) ?? .unproven,
                        count: try rows.int8(row, 3),
                        holdingSince: since.map { Timestamp(milliseconds: $0) }
                    )
                )
            }
            return groups
        }
    }
}
