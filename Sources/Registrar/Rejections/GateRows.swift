internal import Postgres
internal import Push

/// The gates of one transaction, locked in their order from the first statement to the last, so that lanes and operators decide one after the other.
struct GateRows {
    /// A gate as it is stored.
    struct Gate {
        var state: RejectionGate
        var confirmations: Confirmations
        /// There may be open rejections of it.
        var isOpen: Bool
    }

    /// Those that there are; one whose gateway is not on the list is missing.
    var gates: [RejectionGateKey: Gate] = [:]
    /// The database's time.
    private(set) var now = Timestamp(milliseconds: 0)
    /// A moment that is no earlier than ``now``.
    private var read = ContinuousClock.now

    private static let columns = """
        g.gateway_origin, g.app_id, clock_timestamp(), w.confirm_rejections, g.has_open, g.window_accepted,
        g.window_rejected, g.history_accepted, g.history_rejected, g.counted_at, g.accepted_at, g.calm, g.holding_since
        """

    /// $1 origins, $2 apps.
    private static let lockStatement = """
        SELECT \(columns) FROM unnest($1::text[], $2::text[]) AS k (gateway_origin, app_id)
        JOIN rejection_gates g USING (gateway_origin, app_id) JOIN gateways w ON w.origin = g.gateway_origin
        ORDER BY g.gateway_origin, g.app_id FOR UPDATE OF g
        """

    private static let makeStatement = """
        INSERT INTO rejection_gates (gateway_origin, app_id)
        SELECT k.gateway_origin, k.app_id FROM unnest($1::text[], $2::text[]) AS k (gateway_origin, app_id)
        JOIN gateways w ON w.origin = k.gateway_origin ORDER BY 1, 2
        ON CONFLICT DO NOTHING
        """

    /// Locks the gates of `keys`, making those that are missing.
    init(locking keys: some Sequence<RejectionGateKey>, on connection: inout Connection) throws(PostgresError)
    {
        let keys = Set(keys).sorted()
        guard !keys.isEmpty else { return }
        let parameters: Parameters = [
            .array(ArrayParameter(text: keys.map(\.origin))), .array(ArrayParameter(text: keys.map(\.app))),
        ]
        try take(connection.query(Self.lockStatement, parameters))
        guard gates.count < keys.count else { return }
        // Another lane may have made them meanwhile: however many were made here, look again.
        try connection.execute(Self.makeStatement, parameters)
        try take(connection.query(Self.lockStatement, parameters))
    }

    /// The moment that was `age` milliseconds before `made`, by the database's clock, or one a little before: other lanes were waited for since.
    func moment(_ age: Int64, before made: ContinuousClock.Instant) -> Timestamp {
        now.adding(milliseconds: -max(age, 0)).adding(made - read)
    }

    private mutating func take(_ rows: borrowing Rows) throws(PostgresError) {
        read = .now
        for row in 0..<rows.count {
            let key = RejectionGateKey(origin: try rows.text(row, 0), app: try rows.text(row, 1))
            now = max(now, Timestamp(milliseconds: try rows.timestampMilliseconds(row, 2)))
            let state = RejectionGate(
                window: AnswerShare(accepted: try rows.float8(row, 5), rejected: try rows.float8(row, 6)),
                history: AnswerShare(accepted: try rows.float8(row, 7), rejected: try rows.float8(row, 8)),
                countedAt: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 9)),
                acceptedAt: try rows.timestampMillisecondsIfPresent(row, 10).map {
                    Timestamp(milliseconds: $0)
                },
                calm: try rows.int8(row, 11),
                holdingSince: try rows.timestampMillisecondsIfPresent(row, 12).map {
                    Timestamp(milliseconds: $0)
                }
            )
            gates[key] = Gate(
                state: state,
                confirmations: Confirmations(Int(try rows.int4(row, 3))),
                isOpen: try rows.bool(row, 4)
            )
        }
    }

    /// $1 origins, $2 apps, $3 to $6 window and history, $7 counted, $8 accepted, $9 calm, $10 holding.
    private static let writeStatement = """
        UPDATE rejection_gates g SET
            window_accepted = n.window_accepted, window_rejected = n.window_rejected,
            history_accepted = n.history_accepted, history_rejected = n.history_rejected, counted_at = n.counted_at,
            accepted_at = n.accepted_at, calm = n.calm, holding_since = n.holding_since,
            has_open = EXISTS (
                SELECT FROM open_rejections o WHERE o.gateway_origin = g.gateway_origin AND o.app_id = g.app_id
            )
        FROM unnest(
            $1::text[], $2::text[], $3::float8[], $4::float8[], $5::float8[], $6::float8[], $7::timestamptz[],
            $8::timestamptz[], $9::int8[], $10::timestamptz[]
        ) AS n (
            gateway_origin, app_id, window_accepted, window_rejected, history_accepted, history_rejected, counted_at,
            accepted_at, calm, holding_since
        )
        WHERE g.gateway_origin = n.gateway_origin AND g.app_id = n.app_id
        RETURNING g.gateway_origin, g.app_id, g.has_open, EXISTS (
            SELECT FROM open_rejections o
            WHERE o.gateway_origin = g.gateway_origin AND o.app_id = g.app_id AND o.state = 'waiting'
        )
        """

    /// Writes them all back.
    ///
    /// - Returns: those with open rejections, and those with waiting ones.
    func write(
        to connection: inout Connection
    ) throws(PostgresError) -> (open: Set<RejectionGateKey>, waiting: Set<RejectionGateKey>) {
        var texts = [ArrayParameter](repeating: ArrayParameter(of: .text), count: 2)
        var shares = [ArrayParameter](repeating: ArrayParameter(of: .float8), count: 4)
        var times = [ArrayParameter](repeating: ArrayParameter(of: .timestamptz), count: 3)
        var calm = ArrayParameter(of: .int8)
        for (key, gate) in gates.sorted(by: { $0.key < $1.key }) {
            let state = gate.state
            texts[0].append(text: key.origin)
            texts[1].append(text: key.app)
            let numbers = [
                state.window.accepted, state.window.rejected, state.history.accepted, state.history.rejected,
            ]
            for (column, number) in numbers.enumerated() { shares[column].append(float8: number) }
            let moments = [state.countedAt, state.acceptedAt, state.holdingSince]
            for (column, moment) in moments.enumerated() {
                times[column].append(timestampMilliseconds: moment?.milliseconds)
            }
            calm.append(int8: state.calm)
        }
        var parameters = Parameters()
        for column in texts + shares + times.prefix(2) + [calm] + times.suffix(1) {
            parameters.append(column)
        }
        let rows = try connection.query(Self.writeStatement, parameters)
        var open: Set<RejectionGateKey> = []
        var waiting: Set<RejectionGateKey> = []
        for row in 0..<rows.count {
            let key = RejectionGateKey(origin: try rows.text(row, 0), app: try rows.text(row, 1))
            if try rows.bool(row, 2) { open.insert(key) }
            if try rows.bool(row, 3) { waiting.insert(key) }
        }
        return (open, waiting)
    }
}
