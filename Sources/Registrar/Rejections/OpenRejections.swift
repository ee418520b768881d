internal import Postgres
internal import Push

/// The table of rejections that have not deleted their pusher; who judges by them holds their gates.
enum OpenRejections {
    enum State: String {
        case suspected
        case waiting
        case held
    }

    /// A row to be written.
    struct Row {
        var user: [UInt8]
        var pusher: PusherID
        var gate: RejectionGateKey
        var state: State
        var cause: HoldCause?
        var registered: Int64
        var notification: [UInt8]
        var rejections: Int
        var answer: AnswerShare
    }

    /// A row that waits, with the answers since.
    struct Waiting {
        var user: [UInt8]
        var pusher: PusherID
        var gate: RejectionGateKey
        var registered: Int64
        var notification: [UInt8]
        var rejections: Int
        var evidence: RejectionEvidence
    }

    // MARK: What speaks for a pusher

    /// $1 user ids, $2 pusher ids, $3 how often, $4 how many are enough.
    private static let forgetStatement = """
        DELETE FROM open_rejections o USING unnest($1::text[], $2::uuid[], $3::int4[], $4::int4[])
            AS s (user_id, pusher_id, successes, needed)
        WHERE o.user_id = s.user_id AND o.pusher_id = s.pusher_id AND o.successes + s.successes >= s.needed
        """

    private static let countStatement = """
        UPDATE open_rejections o SET successes = o.successes + s.successes
        FROM unnest($1::text[], $2::uuid[], $3::int4[]) AS s (user_id, pusher_id, successes)
        WHERE o.user_id = s.user_id AND o.pusher_id = s.pusher_id
        """

    /// Notes messages that were taken, and forgets what was said against pushers for which enough were.
    ///
    /// - Returns: how many rejections were forgotten.
    static func note(
        _ successes: [RejectionFlush.Success],
        _ gates: GateRows,
        on connection: inout Connection
    ) throws(PostgresError) -> Int {
        var counts: [PusherID: (user: [UInt8], count: Int32, needed: Int)] = [:]
        for success in successes {
            guard let gate = gates.gates[success.gate], gate.isOpen else { continue }
            counts[
                success.pusher,
                default: (success.user, 0, gate.confirmations.successesToForget)
            ].count += 1
        }
        guard !counts.isEmpty else { return 0 }
        var users = ArrayParameter(of: .text)
        var pushers = ArrayParameter(of: .uuid)
        var numbers = ArrayParameter(of: .int4)
        var needed = ArrayParameter(of: .int4)
        var isEnoughAtOnce = true
        for (pusher, entry) in counts {
            users.append(text: entry.user.span)
            pushers.append(pusher)
            numbers.append(int4: entry.count)
            needed.append(int4: Int32(clamping: entry.needed))
            if entry.count < entry.needed { isEnoughAtOnce = false }
        }
        let forgotten = try connection.execute(
            forgetStatement,
            [.array(users), .array(pushers), .array(numbers), .array(needed)]
        )
        if !isEnoughAtOnce {
            try connection.execute(countStatement, [.array(users), .array(pushers), .array(numbers)])
        }
        return forgotten
    }

    /// Forgets whatever is not held yet, in favour of the pushers.
    static func forget(
        _ gate: RejectionGateKey,
        on connection: inout Connection
    ) throws(PostgresError) -> Int {
        try connection.execute(
            """
            DELETE FROM open_rejections WHERE gateway_origin = $1 AND app_id = $2 AND state IN ('suspected', 'waiting')
            """,
            [.text(gate.origin), .text(gate.app)]
        )
    }

    // MARK: What waits

    /// $1 origins, $2 apps, $3 accepted, $4 rejected, $5 since when all of these were sent.
    private static let waitingStatement = """
        UPDATE open_rejections o SET
            accepted_since = o.accepted_since + CASE WHEN o.rejected_at < g.sent THEN g.accepted ELSE 0 END,
            rejected_since = o.rejected_since + g.rejected
        FROM unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::timestamptz[])
            AS g (gateway_origin, app_id, accepted, rejected, sent)
        WHERE o.gateway_origin = g.gateway_origin AND o.app_id = g.app_id AND o.state = 'waiting'
        RETURNING o.user_id, o.pusher_id, o.gateway_origin, o.app_id, o.registered_at, o.notification_id,
            o.rejections, o.rejected_at, o.accepted_since, o.rejected_since
        """

    /// Adds the answers of a flush to what waits.
    ///
    /// - Returns: all that waits at the flush's gates.
    static func waiting(
        _ flush: RejectionFlush,
        _ rows: GateRows,
        on connection: inout Connection
    ) throws(PostgresError) -> [Waiting] {
        var texts = [ArrayParameter](repeating: ArrayParameter(of: .text), count: 2)
        var counts = [ArrayParameter](repeating: ArrayParameter(of: .int8), count: 2)
        var sent = ArrayParameter(of: .timestamptz)
        for gate in flush.gates where rows.gates[gate.key]?.isOpen == true {
            texts[0].append(text: gate.key.origin)
            texts[1].append(text: gate.key.app)
            counts[0].append(int8: gate.answers.accepted)
            counts[1].append(int8: gate.answers.rejected)
            let moment = rows.moment(gate.oldestSentAge, before: flush.made)
            sent.append(timestampMilliseconds: moment.milliseconds)
        }
        guard sent.count > 0 else { return [] }
        var parameters = Parameters()
        for column in texts + counts + [sent] { parameters.append(column) }
        let found = try connection.query(waitingStatement, parameters)
        var waiting: [Waiting] = []
        for row in 0..<found.count { waiting.append(try self.waiting(found, row)) }
        return waiting
    }

    private static func waiting(_ rows: borrowing Rows, _ row: Int) throws(PostgresError) -> Waiting {
        Waiting(
            user: Array(try rows.text(row, 0).utf8),
            pusher: try PusherID(rows, row, 1),
            gate: RejectionGateKey(origin: try rows.text(row, 2), app: try rows.text(row, 3)),
            registered: try rows.timestampMilliseconds(row, 4),
            notification: try rows.uuid(row, 5),
            rejections: Int(try rows.int4(row, 6)),
            evidence: RejectionEvidence(
                rejectedAt: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 7)),
                accepted: try rows.int8(row, 8),
                rejected: try rows.int8(row, 9)
            )
        )
    }
}
