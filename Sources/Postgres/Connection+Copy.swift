internal import Cpq

extension Connection {
    /// Streams rows into a table: the fastest way in, and all or nothing.
    ///
    /// - Parameters:
    ///   - sql: `COPY table (columns) FROM STDIN (FORMAT binary)`.
    ///   - stallTimeout: how long the server may take nothing at all, and how long to finish; by default the configuration's
    ///     statement timeout.
    ///   - body: appends rows. When it throws, the COPY is called off and its error thrown on.
    /// - Returns: how many rows were added.
    /// - Throws: the server's error about the first row at fault, its number in ``PostgresError/copyRow``. The server says so
    ///   only at the end, whatever else was sent meanwhile.
    ///
    /// The corresponding C functions are `PQputCopyData` and `PQputCopyEnd`.
    @discardableResult
    package mutating func copyIn(
        _ sql: String,
        stallTimeout: Duration? = nil,
        _ body: (inout CopyWriter) throws(PostgresError) -> Void
    ) throws(PostgresError) -> Int {
        let stallTimeout = stallTimeout ?? configuration.statementTimeout
        let spare = Patience(
            timeout: stallTimeout,
            grace: configuration.cancelGrace,
            interrupt: interrupt ?? -1
        )
        var writerPatience = Optional(spare)
        return try exchange(stallTimeout) { (wire, patience) throws(PostgresError) in
            try wire.beginCopy(sql, &patience)
            guard let own = writerPatience.take() else { return 0 }
            var writer = CopyWriter(wire, stallTimeout: stallTimeout, patience: own)
            var failure: PostgresError?
            do throws(PostgresError) {
                try body(&writer)
                try writer.finish()
            } catch {
                failure = error
            }
            // What the writer went through holds for the end as well.
            swap(&patience, &writer.patience)
            patience.renew(timeout: stallTimeout)
            return try wire.endCopy(failure, &patience)
        }
    }
}

extension Wire {
    fileprivate func beginCopy(_ sql: String, _ patience: inout Patience) throws(PostgresError) {
        try sendScript(sql)
        try flush(&patience)
        guard let result = try unsafe nextResult(&patience) else {
            throw unsafe PostgresError(connection: connection)
        }
        defer { unsafe PQclear(result) }
        switch unsafe PQresultStatus(result) {
        case PGRES_COPY_IN:
            if unsafe PQbinaryTuples(result) == 1 { return }
            let fault = PostgresError(.usage, "COPY must be FROM STDIN (FORMAT binary)")
            _ = try endCopy(fault, &patience)
        case PGRES_FATAL_ERROR:
            let error = unsafe PostgresError(result: result, connection: connection)
            while let extra = try unsafe nextResult(&patience) { unsafe PQclear(extra) }
            throw error
        default:
            // Not idle, so the caller drops the session.
            throw PostgresError(.usage, "this statement is no COPY FROM STDIN")
        }
    }

    /// Completes the COPY, or calls it off for the reason given in `failure`; gives the number of rows added.
    fileprivate func endCopy(
        _ failure: PostgresError?,
        _ patience: inout Patience
    ) throws(PostgresError) -> Int {
        // A stall or a lost session: the server is not listening, and the session will be dropped.
        if let failure, patience.reason != nil || isBroken { throw failure }
        let status =
            if failure == nil { unsafe PQputCopyEnd(connection, nil) } else {
                unsafe PQputCopyEnd(connection, "called off by the client")
            }
        try require(status)
        do throws(PostgresError) {
            let rows = try collect(&patience)
            if let failure { throw failure }
            return rows.affected
        } catch {
            // The server's complaint about being called off says nothing; unless it had found a fault before.
            if let failure, error.kind == .cancelled { throw failure }
            throw error
        }
    }
}
