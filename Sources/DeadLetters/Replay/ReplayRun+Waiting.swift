internal import Postgres

/// A replay waits: for its rate, for the live lanes, and for servers that are away for a moment.
extension ReplayRun {
    /// Waits until the rate and the live lanes allow the step, and keeps the lock meanwhile.
    mutating func waitForTurn(
        _ step: Step,
        in connection: inout Connection
    ) throws(DeadLettersError) -> ReplayEnd? {
        let patience = ContinuousClock.now + settings.lagPatience
        var renewed = ContinuousClock.now
        let due = pace?.due(step.sent, at: .now) ?? .now
        while true {
            let isLagging = step.records.isEmpty ? false : lag.isTooMuch(at: .now)
            let rest = due - .now
            if !isLagging, rest <= .zero { return nil }
            if isLagging, ContinuousClock.now >= patience { return .lagging(lag.excess) }
            if ContinuousClock.now - renewed > lock.lease / 4 {
                try patiently(&connection) { (connection: inout Connection) throws(DeadLettersError) in
                    try lock.insist(in: &connection)
                }
                renewed = .now
            }
            let pause = isLagging ? Duration.milliseconds(500) : min(rest, .seconds(1))
            if stop.wait(for: pause) { return .interrupted }
        }
    }

    /// A session, waited for as long as patience lasts.
    func reconnect(_ connection: inout Connection) throws(DeadLettersError) {
        try database { () throws(PostgresError) in
            try connection.ensureConnected(within: settings.patience)
        }
    }

    /// Runs what can be run again; if it is cut off, once more when the database is back.
    func patiently<R>(
        _ connection: inout Connection,
        _ body: (inout Connection) throws(DeadLettersError) -> R
    ) throws(DeadLettersError) -> R {
        let deadline = ContinuousClock.now + settings.patience
        while true {
            do throws(DeadLettersError) {
                try reconnect(&connection)
                return try body(&connection)
            } catch {
                guard error.mayPass, ContinuousClock.now < deadline, !stop.wait(for: .milliseconds(200))
                else { throw error }
            }
        }
    }
}
