/// What `BEGIN` asks for.
package enum TransactionMode: Sendable {
    case readCommitted
    case repeatableRead
    case serializable
    case readOnly

    var begin: String {
        switch self {
        case .readCommitted: "BEGIN"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
        case .readOnly: "BEGIN READ ONLY"
        }
    }
}

/// An error that can stand for one of PostgreSQL's, so that the closure of a transaction may throw its module's own.
package protocol PostgresFailure: Error {
    init(_ error: PostgresError)
    /// PostgreSQL's error, if that is what happened.
    var postgresError: PostgresError? { get }
}

extension PostgresError: PostgresFailure {
    package init(_ error: PostgresError) { self = error }
    package var postgresError: PostgresError? { self }
}

extension Connection {
    /// Runs `body` between BEGIN and COMMIT; an error of its own or of the server's rolls everything back.
    ///
    /// - Parameters:
    ///   - mode: isolation, or read-only.
    ///   - attempts: how often the whole is tried when another transaction was in the way (40001, 40P01), from 1. `body` must
    ///     then bear repetition. Between attempts there are short random pauses.
    ///   - body: gets this connection; beginning another transaction there is an error.
    /// - Returns: what `body` returned, once that is committed.
    /// - Throws: what `body` threw; otherwise the error of BEGIN or COMMIT. An error with
    ///   ``PostgresError/mayHaveCommitted`` leaves open which.
    @discardableResult
    package mutating func transaction<R: ~Copyable, Failure: PostgresFailure>(
        _ mode: TransactionMode = .readCommitted,
        attempts: Int = 1,
        _ body: (inout Connection) throws(Failure) -> R
    ) throws(Failure) -> R {
        try retryingConflicts(attempts) { (connection: inout Connection) throws(Failure) in
            try connection.transactionOnce(mode, body)
        }
    }

    private mutating func transactionOnce<R: ~Copyable, Failure: PostgresFailure>(
        _ mode: TransactionMode,
        _ body: (inout Connection) throws(Failure) -> R
    ) throws(Failure) -> R {
        do throws(PostgresError) { try begin(mode) } catch { throw Failure(error) }
        isInTransactionBody = true
        defer { isInTransactionBody = false }
        do throws(Failure) {
            let value = try body(&self)
            do throws(PostgresError) { try commit() } catch { throw Failure(error) }
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    private mutating func begin(_ mode: TransactionMode) throws(PostgresError) {
        guard !isInTransaction else { throw PostgresError(.usage, "a transaction is open already") }
        try executeScript(mode.begin)
    }

    private mutating func commit() throws(PostgresError) {
        let wasConnected = isConnected
        let tag: String
        do throws(PostgresError) {
            tag = try executeScript("COMMIT")
        } catch {
            var error = error
            if wasConnected, !isConnected { error.mayHaveCommitted = true }
            throw error
        }
        // The server answers the COMMIT of a failed transaction with ROLLBACK, and does not call it an error.
        guard tag == "COMMIT" else {
            throw PostgresError(.rolledBack, "the transaction had failed before and was rolled back")
        }
    }

    /// Leaves the session outside any transaction, or gives it up.
    mutating func rollBack() {
        guard isInTransaction else { return }
        // Even when told to stop: the alternative is to drop a good session.
        let stop = interrupt
        interrupt = nil
        defer { interrupt = stop }
        do throws(PostgresError) {
            try executeScript("ROLLBACK", timeout: configuration.cancelGrace)
        } catch {
            disconnect()
        }
    }

    /// Repeats `body` as long as it fails for other transactions' sake.
    mutating func retryingConflicts<R: ~Copyable, Failure: PostgresFailure>(
        _ attempts: Int,
        _ body: (inout Connection) throws(Failure) -> R
    ) throws(Failure) -> R {
        var backoff = Backoff(first: .milliseconds(10), longest: .milliseconds(500))
        var left = attempts
        while true {
            do throws(Failure) {
                return try body(&self)
            } catch {
                left -= 1
                guard error.postgresError?.isTransactionRetriable == true, left > 0 else { throw error }
                do throws(PostgresError) { try pause(until: .now + backoff.next()) } catch {
                    throw Failure(error)
                }
            }
        }
    }
}
