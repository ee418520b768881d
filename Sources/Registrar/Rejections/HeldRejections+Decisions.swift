package import Postgres
internal import Push

/// What operators decide about held rejections, with a record of it.
extension HeldRejections {
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
    /// - Throws: ``RegistrarError``; what the steps before it did stays done.
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
        let keys: Set<RejectionGateKey> = try database { () throws(PostgresError) in
            let rows = try connection.query(
                """
                SELECT DISTINCT gateway_origin, app_id FROM open_rejections
                WHERE state = 'held' AND ($1::text IS NULL OR gateway_origin = $1)
                    AND ($2::text IS NULL OR app_id = $2) AND ($3::timestamptz IS NULL OR rejected_at >= $3)
                """,
                filter.parameters,
                timeout: .seconds(600)
            )
            var keys: Set<RejectionGateKey> = []
            for row in 0..<rows.count {
                keys.insert(RejectionGateKey(origin: try rows.text(row, 0), app: try rows.text(row, 1)))
            }
            return keys
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
        if removed == 0 { try OpenRejections.forgetStale(of: key, on: &connection) }
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
