package import Postgres
package import Push

/// Judges what lanes have heard, in the database: the one place where a rejection deletes a pusher.
///
/// ```
///   gates locked ─▶ answers counted ─▶ successes noted ─▶ waiting ones judged ─▶ new ones judged ─▶ deleted, with a record │ kept
/// ```
///
/// One transaction a flush. A gate's row is locked first, so that of all lanes one decides at a time, on the sum of what all have heard. Then pushers are
/// locked in the order of their key, as everybody does. A pusher that registered anew after the message was made is never touched: a
/// device that has just registered is not dead.
package struct RejectionLedger: Sendable {
    private let stormGuard: StormGuard
    /// Who removes, for the record.
    private let who: String

    package init(_ stormGuard: StormGuard = StormGuard(), who: String) {
        self.stormGuard = stormGuard
        self.who = who
    }

    /// Counts answers and decides about rejections.
    ///
    /// - Returns: what became of each rejection.
    /// - Throws: when nothing was changed; except that an error with `mayHaveCommitted` leaves that open, and the same flush may be given again:
    ///   it then finds the pushers gone.
    package func settle(
        _ flush: RejectionFlush,
        on connection: inout Connection
    ) throws(PostgresError) -> RejectionOutcome {
        try connection.transaction(attempts: 3) { (connection: inout Connection) throws(PostgresError) in
            let keys = flush.gates.map(\.key) + flush.rejections.map(\.gate)
            var settlement = RejectionSettlement(
                flush,
                stormGuard,
                try GateRows(locking: keys, on: &connection)
            )
            try settlement.count(on: &connection)
            try settlement.judge(on: &connection)
            try settlement.write(by: who, to: &connection)
            return settlement.outcome
        }
    }

    /// The gates with open rejections, for which lanes tell who got messages; and whether any waits to be borne out.
    package static func openGates(
        from connection: inout Connection
    ) throws(PostgresError) -> [RejectionGateKey: Bool] {
        let rows = try connection.query(
            """
            SELECT g.gateway_origin, g.app_id, EXISTS (
                SELECT FROM open_rejections o
                WHERE o.gateway_origin = g.gateway_origin AND o.app_id = g.app_id AND o.state = 'waiting'
            ) FROM rejection_gates g WHERE g.has_open
            """
        )
        var gates: [RejectionGateKey: Bool] = [:]
        for row in 0..<rows.count {
            let key = RejectionGateKey(origin: try rows.text(row, 0), app: try rows.text(row, 1))
            gates[key] = try rows.bool(row, 2)
        }
        return gates
    }

    /// How many rejections are held, by gateway and cause; reads all of them.
    package static func heldCounts(
        from connection: inout Connection
    ) throws(PostgresError) -> [String: [HoldCause: Int64]] {
        let rows = try connection.query(
            "SELECT gateway_origin, cause, count(*) FROM open_rejections WHERE state = 'held' GROUP BY 1, 2"
        )
        var counts: [String: [HoldCause: Int64]] = [:]
        for row in 0..<rows.count {
            guard let cause = HoldCause(rawValue: try rows.text(row, 1)) else { continue }
            counts[try rows.text(row, 0), default: [:]][cause] = try rows.int8(row, 2)
        }
        return counts
    }
}
