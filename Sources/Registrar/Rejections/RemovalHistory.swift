package import Postgres
package import Push

/// What was removed for rejections, and what operators decided: the record, for whoever asks where a device went.
package enum RemovalHistory {
    /// A pusher that is no more.
    package struct Removal: Sendable, Equatable {
        package let user: String
        package let pusher: PusherID
        package let app: String
        package let gateway: String
        package let device: String
        /// `rejected`, `confirmed` or `applied`.
        package let reason: String
        package let rejectedAt: Timestamp
        package let removedAt: Timestamp
        package let removedBy: String
        package let notification: String
        /// When a registration took its channel settings over; nil: none has.
        package let restoredAt: Timestamp?
    }

    /// What an operator did with held rejections.
    package struct Decision: Sendable, Equatable {
        package let at: Timestamp
        package let by: String
        /// `apply` or `discard`.
        package let decision: String
        package let filter: RejectionFilter
        package let pushers: Int64
    }

    /// Removed pushers.
    ///
    /// - Parameters:
    ///   - filter: ``RejectionFilter/since`` is the time of the removal here.
    ///   - user: of this user only.
    ///   - limit: as many at most.
    ///   - connection: the database.
    /// - Returns: the latest first.
    /// - Throws: ``RegistrarError/database(_:)``.
    package static func removals(
        _ filter: RejectionFilter,
        user: String?,
        limit: Int,
        in connection: inout Connection
    ) throws(RegistrarError) -> [Removal] {
        var parameters = filter.parameters
        parameters.append(text: user)
        parameters.append(int8: Int64(limit))
        return try database { () throws(PostgresError) in
            let rows = try connection.query(
                """
                SELECT pseudonym(user_id), pusher_id, app_id, gateway_origin, device_display_name, reason, rejected_at,
                    removed_at, removed_by, notification_id, restored_at
                FROM pusher_removals
                WHERE ($1::text IS NULL OR gateway_origin = $1) AND ($2::text IS NULL OR app_id = $2)
                    AND ($3::timestamptz IS NULL OR removed_at >= $3) AND ($4::text IS NULL OR user_id = $4)
                ORDER BY removed_at DESC, user_id, pusher_id LIMIT $5
                """,
                parameters,
                timeout: .seconds(600)
            )
            var removals: [Removal] = []
            for row in 0..<rows.count { removals.append(try removal(rows, row)) }
            return removals
        }
    }

    private static func removal(_ rows: borrowing Rows, _ row: Int) throws(PostgresError) -> Removal {
        Removal(
            user: try rows.text(row, 0),
            pusher: try PusherID(rows, row, 1),
            app: try rows.text(row, 2),
            gateway: try rows.text(row, 3),
            device: try rows.text(row, 4),
            reason: try rows.text(row, 5),
            rejectedAt: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 6)),
            removedAt: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 7)),
            removedBy: try rows.text(row, 8),
            notification: try PusherID(rows, row, 9).description,
            restoredAt: try rows.timestampMillisecondsIfPresent(row, 10).map { Timestamp(milliseconds: $0) }
        )
    }

    /// Decisions, the latest first.
    package static func decisions(
        limit: Int,
        in connection: inout Connection
    ) throws(RegistrarError) -> [Decision] {
        try database { () throws(PostgresError) in
            let rows = try connection.query(
                """
                SELECT decided_at, decided_by, decision, gateway_origin, app_id, rejected_since, pushers
                FROM rejection_decisions ORDER BY decided_at DESC LIMIT $1
                """,
                [.int8(Int64(limit))]
            )
            var decisions: [Decision] = []
            for row in 0..<rows.count {
                let since = try rows.timestampMillisecondsIfPresent(row, 5)
                decisions.append(
                    Decision(
                        at: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 0)),
                        by: try rows.text(row, 1),
                        decision: try rows.text(row, 2),
                        filter: RejectionFilter(
                            gateway: try rows.textIfPresent(row, 3),
                            app: try rows.textIfPresent(row, 4),
                            since: since.map { Timestamp(milliseconds: $0) }
                        ),
                        pushers: try rows.int8(row, 6)
                    )
                )
            }
            return decisions
        }
    }
}
