import Postgres
import Push
import Registrar

/// What a lane would tell the ledger, written down answer by answer.
extension RegistrarFixture {
    static let gate = RejectionGateKey(origin: "https://gateway.example", app: "de.example.app.apns")

    /// Registers `count` users, `user-0` and so on, each with a key of its own.
    func registerMany(_ count: Int) throws {
        try register((0..<count).map { Line(user: "user-\($0)", pushkey: "\(Self.pushkey)-\($0)") })
    }

    static let pushkey = "a-pushkey-that-nobody-may-see"

    /// One answer with these users' keys rejected, and others taken.
    func answer(
        rejecting users: [String],
        accepted: [String] = [],
        others: Int = 0,
        sentAge: Int64 = 0,
        registered: Int64? = nil
    ) throws -> RejectionFlush {
        var flush = RejectionFlush()
        let taken = accepted.count + others
        let share = AnswerShare(accepted: Double(taken), rejected: Double(users.count))
        flush.gates = [
            RejectionFlush.Gate(
                Self.gate,
                GateAnswers(
                    accepted: Int64(taken),
                    rejected: Int64(users.count),
                    withRejections: users.isEmpty ? [] : [share]
                ),
                acceptedAge: taken > 0 ? 0 : nil,
                oldestSentAge: sentAge
            )
        ]
        for (number, user) in users.enumerated() {
            let stored = try stored(user)
            flush.rejections.append(
                RejectionFlush.Rejection(
                    user: Array(user.utf8),
                    pusher: stored.pusher,
                    notification: NotificationID(UUIDBytes(high: 1, low: UInt64(number))),
                    registered: registered ?? stored.registered,
                    gate: Self.gate,
                    sentAge: sentAge,
                    answer: share
                )
            )
        }
        for user in accepted {
            flush.successes.append(
                RejectionFlush.Success(
                    user: Array(user.utf8),
                    pusher: try stored(user).pusher,
                    gate: Self.gate
                )
            )
        }
        return flush
    }

    @discardableResult
    func settle(
        _ flush: RejectionFlush,
        patience: Duration = .seconds(60)
    ) throws -> RejectionOutcome {
        var settings = StormGuard.Settings()
        settings.patience = patience
        return try RejectionLedger(StormGuard(settings), who: "dispatch/test").settle(flush, on: &connection)
    }

    /// `user state cause`, in order.
    func open() throws -> [String] {
        let rows = try connection.query(
            "SELECT concat_ws(' ', user_id, state, cause) AS line FROM open_rejections ORDER BY user_id"
        )
        return try (0..<rows.count).map { try rows.text($0, 0) }
    }

    func confirm(_ count: Int) throws {
        try connection.executeScript(
            "UPDATE gateways SET confirm_rejections = \(count) WHERE origin = '\(Self.gate.origin)'"
        )
    }
}
