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

    private static let condition = """
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

    // MARK: Deciding

    /// Lets held rejections pass: their pushers are deleted with their keys, unless they registered anew.
    ///
    /// In steps of a thousand, so that lanes are not kept waiting; what is done stays done. Rejections that come meanwhile are not touched. What
    /// was applied counts as usual for its gateway and app from then on.
    ///
    /// - Parameters:
    ///   - filter: which.
    ///   - who: for the record.
    ///   - connection: the database.
    ///   - progress: told after each step how many were removed.
    /// - Returns: how many pushers were removed.
    package static func apply(
        _ filter: RejectionFilter,
        by who: String,
        on connection: inout Connection,
        progress: (Int64) -> Void = { _ in }
    ) throws(RegistrarError) -> Int64 {
        let gates = try gates(filter, in: &connection)
        let end = try database { () throws(PostgresError) in
            try connection.query("SELECT clock_timestamp()").timestampMilliseconds(0, 0)
        }
        var total: Int64 = 0
        for gate in gates {
            var step: Int64
            repeat {
                step = try connection.transaction(attempts: 5) {
                    (connection: inout Connection) throws(RegistrarError) in
                    try database { () throws(PostgresError) in
                        try applyStep(gate, filter, end, who, on: &connection)
                    }
                }
                total += step
                progress(total)
            } while step > 0
        }
        try record("apply", filter, by: who, total, on: &connection)
        return total
    }

    /// Drops held rejections: their pushers stay, and their gateways and apps are judged anew.
    ///
    /// - Returns: how many were dropped.
    package static func discard(
        _ filter: RejectionFilter,
        by who: String,
        on connection: inout Connection
    ) throws(RegistrarError) -> Int64 {
        var total: Int64 = 0
        for gate in try gates(filter, in: &connection) {
            total += try connection.transaction(attempts: 5) {
                (connection: inout Connection) throws(RegistrarError) in
                try database { () throws(PostgresError) in
                    try discardAll(of: gate, filter, on: &connection)
                }
            }
        }
        try record("discard", filter, by: who, total, on: &connection)
        return total
    }

    private static func gates(
        _ filter: RejectionFilter,
        in connection: inout Connection
    ) throws(RegistrarError) -> [RejectionGateKey] {
        var keys: Set<RejectionGateKey> = []
        for group in try groups(filter, in: &connection) {
            keys.insert(RejectionGateKey(origin: group.gateway, app: group.app))
        }
        return keys.sorted()
    }

    private static func applyStep(
        _ key: RejectionGateKey,
        _ filter: RejectionFilter,
        _ end: Int64,
        _ who: String,
        on connection: inout Connection
    ) throws(PostgresError) -> Int64 {
        var gates = try GateRows(locking: [key], on: &connection)
        var parameters: Parameters = [
            .text(key.origin), .text(key.app), .timestampMilliseconds(filter.since?.milliseconds),
        ]
        parameters.append(timestampMilliseconds: end)
        let rows = try connection.query(
            """
            SELECT o.user_id, o.pusher_id, o.notification_id, o.rejected_at
            FROM open_rejections o JOIN pushers p USING (user_id, pusher_id)
            WHERE \(condition) AND o.rejected_at <= $4::timestamptz
            ORDER BY p.user_id, p.pusher_id LIMIT 1000 FOR UPDATE OF p
            """,
            parameters,
            timeout: .seconds(60)
        )
        var removal = PusherRemoval()
        for row in 0..<rows.count {
            removal.append(
                user: Array(try rows.text(row, 0).utf8),
                try PusherID(rows, row, 1),
                .applied,
                try rows.uuid(row, 2),
                rejectedAt: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 3))
            )
        }
        let removed = Int64(try removal.run(by: who, at: gates.now, on: &connection))
        gates.gates[key]?.state.relearn(believed: removed)
        _ = try gates.write(to: &connection)
        return removed
    }

    private static func discardAll(
        of key: RejectionGateKey,
        _ filter: RejectionFilter,
        on connection: inout Connection
    ) throws(PostgresError) -> Int64 {
        var gates = try GateRows(locking: [key], on: &connection)
        let dropped = try connection.execute(
            """
            DELETE FROM open_rejections o
            WHERE o.state = 'held' AND o.gateway_origin = $1 AND o.app_id = $2
                AND ($3::timestamptz IS NULL OR o.rejected_at >= $3)
            """,
            [.text(key.origin), .text(key.app), .timestampMilliseconds(filter.since?.milliseconds)],
            timeout: .seconds(600)
        )
        gates.gates[key]?.state.relearn(believed: 0)
        _ = try gates.write(to: &connection)
        return Int64(dropped)
    }

    private static func record(
        _ decision: String,
        _ filter: RejectionFilter,
        by who: String,
        _ pushers: Int64,
        on connection: inout Connection
    ) throws(RegistrarError) {
        var parameters = filter.parameters
        parameters.append(text: decision)
        parameters.append(text: who)
        parameters.append(int8: pushers)
        try database { () throws(PostgresError) -> Void in
            try connection.execute(
                """
                INSERT INTO rejection_decisions (
                    gateway_origin, app_id, rejected_since, decision, decided_by, pushers
                ) VALUES ($1, $2, $3, $4, $5, $6)
                """,
                parameters
            )
        }
    }
}
