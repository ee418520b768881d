internal import Cpq

/// One session with PostgreSQL, owned by one thread.
///
/// ```
///   idle ──connect, ensureConnected──▶ connected ──session lost, disconnect──▶ idle
/// ```
/// A verb used without a session fails with ``PostgresError/Kind/connectionLost``; none but ``connect()`` and
/// ``ensureConnected(within:)`` makes a new one, so nothing that was begun is silently continued elsewhere. After any error
/// the connection is either as before or has no session any more; nothing half-read stays in between.
///
/// Every wait is bounded by the statement timeout and ends early once ``interrupt`` can be read. Statements are sent
/// unnamed and nothing is set for the session, which lets a PgBouncer in transaction mode stand in between.
///
/// The corresponding C type is `PGconn`.
@safe
package struct Connection: ~Copyable {
    package let configuration: Configuration
    /// A descriptor that becomes readable when the caller should stop, such as an eventfd; nil for none.
    ///
    /// Not owned. While it is readable every wait fails with ``PostgresError/Kind/interrupted``. A caller that wants to finish its
    /// work all the same sets it to nil first.
    package var interrupt: Int32?

    var wire: Wire?
    var statements = StatementCache()
    /// Inside the closure of ``transaction(_:attempts:_:)``.
    var isInTransactionBody = false

    /// Makes a connection without a session.
    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Makes a connection and its first session.
    package init(connectingTo configuration: Configuration) throws(PostgresError) {
        self.init(configuration)
        try connect()
    }

    deinit { if let wire { unsafe PQfinish(wire.connection) } }

    /// Whether there is a session, as far as is known without asking the server.
    package var isConnected: Bool { wire.map { !$0.isBroken } ?? false }

    /// Whether the session is inside a transaction block, failed ones included.
    package var isInTransaction: Bool {
        guard let wire else { return false }
        let status = wire.transactionStatus
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE
    }

    /// The server's process that serves this session; a number of PgBouncer's own if there is one in between; 0 without
    /// a session.
    package var processID: Int32 { wire.map { unsafe PQbackendPID($0.connection) } ?? 0 }

    /// Ends the session, if there is one.
    ///
    /// A transaction that was open is rolled back by the server.
    package mutating func disconnect() {
        if let wire { unsafe PQfinish(wire.connection) }
        wire = nil
        statements.forget()
    }

    /// Ends the session, if there is one, and makes a new one, trying each host once.
    ///
    /// - Throws: the class that the server gave (``PostgresError/Kind/permission`` for a wrong password,
    ///   ``PostgresError/Kind/insufficientResources`` for too many connections, …), otherwise
    ///   ``PostgresError/Kind/connectionLost``.
    ///
    /// The corresponding C functions are `PQconnectStartParams` and `PQconnectPoll`.
    package mutating func connect() throws(PostgresError) {
        try connect(until: .now + configuration.connectTimeout * configuration.hostCount)
    }

    /// Makes a session unless there is a living one, trying again after pauses that grow, until `budget` is used up.
    ///
    /// - Throws: the last attempt's error when the budget is used up; at once if waiting will not help, as for a wrong
    ///   password; ``PostgresError/Kind/usage`` inside a transaction's closure, which a new session could not continue.
    package mutating func ensureConnected(within budget: Duration) throws(PostgresError) {
        if isAlive() { return }
        let end = ContinuousClock.now + budget
        var backoff = Backoff(first: configuration.firstBackoff, longest: configuration.longestBackoff)
        while true {
            do {
                return try connect(
                    until: min(end, .now + configuration.connectTimeout * configuration.hostCount)
                )
            } catch {
                let next = ContinuousClock.now + backoff.next()
                guard error.isRetriable, next < end else { throw error }
                try pause(until: next)
            }
        }
    }

    /// Asks the socket, not the server: false if there is no session or its end has arrived.
    mutating func isAlive() -> Bool {
        guard let wire else { return false }
        // What can be read outside a statement is a notice, or a last word and the end of the stream.
        for _ in 0..<8 where !wire.isBroken {
            let readable = unsafe Waiting.wait(socket: PQsocket(wire.connection), interrupt: -1, until: .now)
            guard readable == .ready else { return true }
            _ = unsafe PQconsumeInput(wire.connection)
            _ = unsafe PQisBusy(wire.connection)
        }
        if wire.isBroken { disconnect() }
        return isConnected
    }

    func pause(until end: ContinuousClock.Instant) throws(PostgresError) {
        if Waiting.wait(socket: -1, interrupt: interrupt ?? -1, until: end) == .interrupted {
            throw PostgresError(.interrupted, "stopped by its caller while waiting to try again")
        }
    }

    private mutating func connect(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        // What would be committed at the end is not what was begun.
        guard !isInTransactionBody else {
            throw PostgresError(.usage, "a transaction cannot be continued in another session")
        }
        disconnect()
        wire = try configuration.connect(until: deadline, interrupt: interrupt ?? -1)
    }
}
