internal import Cpq

extension Connection {
    /// Sends all statements at once and reads all answers: what would be a round trip each is one in all.
    ///
    /// Either all take effect or none, unless the pipeline is no transaction and runs inside one that is open already.
    ///
    /// - Parameters:
    ///   - pipeline: what to send; it can be used again.
    ///   - attempts: how often the whole is tried when another transaction was in the way; only for a pipeline that is a
    ///     transaction.
    ///   - timeout: for all together; by default the configuration's statement timeout.
    /// - Returns: one result for each statement.
    /// - Throws: the first statement's error, with its number in ``PostgresError/pipelineStatement``.
    ///
    /// The corresponding C functions are `PQenterPipelineMode` and `PQpipelineSync`.
    package mutating func run(
        _ pipeline: Pipeline,
        attempts: Int = 1,
        timeout: Duration? = nil
    ) throws(PostgresError) -> PipelineResults {
        guard pipeline.isTransaction else { return try runOnce(pipeline, timeout) }
        guard !isInTransaction else { throw PostgresError(.usage, "a transaction is open already") }
        return try retryingConflicts(attempts) { (connection: inout Connection) throws(PostgresError) in
            do throws(PostgresError) {
                return try connection.runOnce(pipeline, timeout)
            } catch {
                // The server skipped the COMMIT and stays in the failed transaction.
                connection.rollBack()
                throw error
            }
        }
    }

    private mutating func runOnce(
        _ pipeline: Pipeline,
        _ timeout: Duration?
    ) throws(PostgresError) -> PipelineResults {
        let wasConnected = isConnected
        do throws(PostgresError) {
            return try exchange(timeout) { (wire, patience) throws(PostgresError) in
                try wire.run(pipeline, &patience)
            }
        } catch {
            var error = error
            if pipeline.isTransaction, wasConnected, !isConnected {
                error.mayHaveCommitted = true
            }
            throw error
        }
    }
}

extension Wire {
    fileprivate func run(
        _ pipeline: Pipeline,
        _ patience: inout Patience
    ) throws(PostgresError) -> PipelineResults {
        // Before anything is sent, so that a value that cannot be sent costs nothing.
        for statement in pipeline.statements {
            if let fault = statement.parameters.fault { throw fault }
        }
        try require(unsafe PQenterPipelineMode(connection))
        if pipeline.isTransaction { try send("BEGIN", []) }
        for statement in pipeline.statements { try send(statement.sql, statement.parameters) }
        if pipeline.isTransaction { try send("COMMIT", []) }
        try require(unsafe PQpipelineSync(connection))
        try flush(&patience)

        var failure: PostgresError?
        var results = PipelineResults()
        let total = pipeline.count + (pipeline.isTransaction ? 2 : 0)
        for position in 0..<total {
            let index = pipeline.isTransaction ? position - 1 : position
            let isOwn = index >= 0 && index < pipeline.count
            try readStatement(isOwn ? index : nil, &results, &failure, &patience)
        }
        try readSync(&failure, &patience)
        try require(unsafe PQexitPipelineMode(connection))
        if let failure { throw failure }
        return results
    }

    /// Reads the answer to statement `index`; nil stands for BEGIN and COMMIT, whose answers are not kept.
    private func readStatement(
        _ index: Int?,
        _ results: inout PipelineResults,
        _ failure: inout PostgresError?,
        _ patience: inout Patience
    ) throws(PostgresError) {
        guard let result = try unsafe nextResult(&patience) else {
            throw unsafe PostgresError(connection: connection)
        }
        switch unsafe PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            if index != nil { unsafe results.append(result) } else { unsafe PQclear(result) }
        case PGRES_PIPELINE_ABORTED:
            unsafe PQclear(result)
        case PGRES_FATAL_ERROR:
            var error = unsafe PostgresError(result: result, connection: connection)
            unsafe PQclear(result)
            error.pipelineStatement = index
            if failure == nil { failure = error }
            // The session is gone, and with it the answers still due.
            if error.kind == .connectionLost { throw error }
        default:
            unsafe PQclear(result)
            throw PostgresError(.usage, "COPY is not for a pipeline")
        }
        // Each statement's results end with none.
        while let extra = try unsafe nextResult(&patience) { unsafe PQclear(extra) }
    }

    /// Reads up to the synchronisation point, where an implicit transaction's commit may still fail.
    private func readSync(
        _ failure: inout PostgresError?,
        _ patience: inout Patience
    ) throws(PostgresError) {
        // A failed commit comes as an error, the end of its results, and only then the point itself.
        for _ in 0..<4 {
            guard let result = try unsafe nextResult(&patience) else { continue }
            defer { unsafe PQclear(result) }
            if unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC { return }
            let error = unsafe PostgresError(result: result, connection: connection)
            if failure == nil { failure = error }
            if error.kind == .connectionLost { throw error }
        }
        throw PostgresError(.connectionLost, "the pipeline's answers are out of step")
    }
}
