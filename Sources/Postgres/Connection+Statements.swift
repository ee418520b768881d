internal import Cpq

extension Connection {
    /// Runs one statement and gives back its rows.
    ///
    /// - Parameters:
    ///   - sql: one statement, `$1` and so on standing for the parameters; never put data into it.
    ///   - parameters: the values of `$1`, `$2`, and so on.
    ///   - timeout: from sending to the last byte; by default the configuration's.
    /// - Returns: the rows; none for a statement that gives none.
    /// - Throws: the server's error by class; ``PostgresError/Kind/timeout`` when the statement had to be cancelled;
    ///   ``PostgresError/Kind/parameter(number:)`` for a value that cannot be sent, before anything is.
    package mutating func query(
        _ sql: String,
        _ parameters: Parameters = [],
        timeout: Duration? = nil
    ) throws(PostgresError) -> Rows {
        if configuration.usesNamedStatements { return try queryNamed(sql, parameters, timeout) }
        return try queryUnnamed(sql, parameters, timeout)
    }

    /// Runs one statement for its effect.
    ///
    /// - Returns: how many rows it was about.
    @discardableResult
    package mutating func execute(
        _ sql: String,
        _ parameters: Parameters = [],
        timeout: Duration? = nil
    ) throws(PostgresError) -> Int {
        try query(sql, parameters, timeout: timeout).affected
    }

    /// Runs SQL without parameters: several statements if it likes, which then are one transaction unless it says otherwise.
    ///
    /// - Returns: the last statement's command tag, such as `COMMIT`.
    @discardableResult
    package mutating func executeScript(
        _ sql: String,
        timeout: Duration? = nil
    ) throws(PostgresError) -> String {
        try exchange(timeout) { (wire, patience) throws(PostgresError) in
            try wire.sendScript(sql)
            return try wire.collect(&patience)
        }.tag
    }

    /// One request and its answer, with the rule that holds for all: afterwards the session is idle, or there is none.
    mutating func exchange<R: ~Copyable>(
        _ timeout: Duration?,
        _ body: (Wire, inout Patience) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        guard let wire else { throw PostgresError(.connectionLost, "there is no connection") }
        var patience = Patience(
            timeout: timeout ?? configuration.statementTimeout,
            grace: configuration.cancelGrace,
            interrupt: interrupt ?? -1
        )
        if patience.isInterrupted {
            throw PostgresError(.interrupted, "stopped by its caller before the statement was sent")
        }
        do throws(PostgresError) {
            let answer = try body(wire, &patience)
            patience.settle()
            if patience.isGivenUp { disconnect() }
            return answer
        } catch {
            patience.settle()
            let isIdle = wire.isIdle
            if error.kind == .connectionLost || patience.isGivenUp || wire.isBroken || !isIdle {
                disconnect()
            }
            throw patience.explain(error)
        }
    }

    private mutating func queryUnnamed(
        _ sql: String,
        _ parameters: Parameters,
        _ timeout: Duration?
    ) throws(PostgresError) -> Rows {
        try exchange(timeout) { (wire, patience) throws(PostgresError) in
            try wire.send(sql, parameters)
            return try wire.collect(&patience)
        }
    }

    private mutating func queryNamed(
        _ sql: String,
        _ parameters: Parameters,
        _ timeout: Duration?
    ) throws(PostgresError) -> Rows {
        do throws(PostgresError) {
            guard let name = try preparedName(sql, parameters, timeout) else {
                return try queryUnnamed(sql, parameters, timeout)
            }
            return try exchange(timeout) { (wire, patience) throws(PostgresError) in
                try wire.sendPrepared(name, parameters)
                return try wire.collect(&patience)
            }
        } catch {
            // Unknown there, taken there, or made for a table that has changed since. Nothing was executed.
            guard ["26000", "42P05", "0A000"].contains(error.sqlState) else { throw error }
            statements.forget(sql, parameters)
            guard !isInTransaction else { throw error }
            return try queryUnnamed(sql, parameters, timeout)
        }
    }

    /// - Returns: nil if as many statements as allowed are prepared already.
    private mutating func preparedName(
        _ sql: String,
        _ parameters: Parameters,
        _ timeout: Duration?
    ) throws(PostgresError) -> String? {
        if let name = statements.name(sql, parameters) { return name }
        guard statements.count < configuration.namedStatementLimit else { return nil }
        let name = statements.freshName()
        _ = try exchange(timeout) { (wire, patience) throws(PostgresError) in
            try wire.sendPrepare(name, sql, parameters)
            return try wire.collect(&patience)
        }
        statements.remember(name, sql, parameters)
        return name
    }
}
