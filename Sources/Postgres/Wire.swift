internal import Cpq

/// A session's non-blocking half of libpq: send, wait within bounds, receive.
///
/// A view; ``Connection`` owns the session.
///
/// The corresponding C type is `PGconn`.
@safe
struct Wire {
    let connection: OpaquePointer

    init(_ connection: OpaquePointer) { unsafe self.connection = connection }

    var isBroken: Bool { unsafe PQstatus(connection) != CONNECTION_OK }
    /// Nothing sent is unanswered, and nothing half-sent.
    var isIdle: Bool {
        let isInPipeline = unsafe PQpipelineStatus(connection) != PQ_PIPELINE_OFF
        return !isInPipeline && transactionStatus != PQTRANS_ACTIVE
    }
    var transactionStatus: PGTransactionStatusType { unsafe PQtransactionStatus(connection) }

    func wait(_ patience: inout Patience, writing: Bool = false) throws(PostgresError) {
        try unsafe patience.wait(for: connection, writing: writing)
    }

    /// A call of libpq's that returns 1 for success.
    func require(_ status: Int32) throws(PostgresError) {
        guard status == 1 else { throw unsafe PostgresError(connection: connection) }
    }

    /// Sends what libpq holds back, reading meanwhile so that neither side waits for the other with full buffers.
    ///
    /// The corresponding C function is `PQflush`.
    func flush(_ patience: inout Patience) throws(PostgresError) {
        while true {
            let state = unsafe PQflush(connection)
            if state == 0 { return }
            // A failure to write is kept by libpq and comes out of the next result, after what the server said last.
            if state < 0 { return }
            try wait(&patience, writing: true)
            if unsafe PQconsumeInput(connection) != 1 { return }
        }
    }

    /// The next result, nil at the end of a statement's results.
    ///
    /// The caller owns it.
    ///
    /// The corresponding C functions are `PQconsumeInput`, `PQisBusy` and `PQgetResult`.
    func nextResult(_ patience: inout Patience) throws(PostgresError) -> OpaquePointer? {
        while unsafe PQisBusy(connection) == 1 {
            try wait(&patience)
            if unsafe PQconsumeInput(connection) != 1 { break }
        }
        return unsafe PQgetResult(connection)
    }

    /// Reads one statement's results to their end; several, if it was a script, of which the last counts.
    ///
    /// - Throws: the first error among them, once all are read.
    func collect(_ patience: inout Patience) throws(PostgresError) -> Rows {
        try flush(&patience)
        var last: Rows?
        var failure: PostgresError?
        while let result = try unsafe nextResult(&patience) {
            switch unsafe PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                last = unsafe Rows(owning: result)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                unsafe PQclear(result)
                // The caller drops a session that is not idle after an error.
                throw PostgresError(.usage, "COPY is not for query or execute")
            default:
                if failure == nil { failure = unsafe PostgresError(result: result, connection: connection) }
                unsafe PQclear(result)
            }
        }
        if let failure { throw failure }
        guard let rows = last.take() else { throw unsafe PostgresError(connection: connection) }
        return rows
    }

    /// Sends a statement unnamed, with binary parameters and for binary results.
    ///
    /// The corresponding C function is `PQsendQueryParams`.
    func send(_ sql: String, _ parameters: Parameters) throws(PostgresError) {
        try check(sql, parameters)
        let status = unsafe parameters.withPointers { count, types, values, lengths, formats in
            unsafe PQsendQueryParams(connection, sql, count, types, values, lengths, formats, 1)
        }
        try require(status)
    }

    /// The corresponding C function is `PQsendQueryPrepared`.
    func sendPrepared(_ name: String, _ parameters: Parameters) throws(PostgresError) {
        try check(name, parameters)
        let status = unsafe parameters.withPointers { count, _, values, lengths, formats in
            unsafe PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
        }
        try require(status)
    }

    /// The corresponding C function is `PQsendPrepare`.
    func sendPrepare(_ name: String, _ sql: String, _ parameters: Parameters) throws(PostgresError) {
        try check(sql, parameters)
        let status = unsafe parameters.withPointers { count, types, _, _, _ in
            unsafe PQsendPrepare(connection, name, sql, count, types)
        }
        try require(status)
    }

    /// Sends SQL without parameters, several statements if it likes; results come as text and are of use only as success.
    ///
    /// The corresponding C function is `PQsendQuery`.
    func sendScript(_ sql: String) throws(PostgresError) {
        try check(sql, [])
        try require(unsafe PQsendQuery(connection, sql))
    }

    private func check(_ sql: String, _ parameters: Parameters) throws(PostgresError) {
        if let fault = parameters.fault { throw fault }
        // C would silently end the statement there.
        if sql.utf8.contains(0) { throw PostgresError(.usage, "the statement contains a zero byte") }
    }
}

extension Parameters {
    /// Lends the parallel arrays that libpq takes: count, types, values, lengths, formats (all binary).
    @unsafe
    func withPointers(
        _ body: (
            Int32, UnsafePointer<Oid>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Int32
    ) -> Int32 {
        let count = count
        if count == 0 { return body(0, nil, nil, nil, nil) }
        return unsafe bytes.withUnsafeBytes { raw in
            // An empty value is not a null one: it needs an address, any.
            let base = unsafe raw.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            return unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) {
                values in
                unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: count) { formats in
                    unsafe formats.initialize(repeating: 1)
                    for index in 0..<count {
                        let offset = offsets[index]
                        let value = offset < 0 ? nil : unsafe base?.advanced(by: offset)
                        unsafe values.initializeElement(
                            at: index,
                            to: value?.assumingMemoryBound(to: CChar.self)
                        )
                    }
                    return unsafe types.withUnsafeBufferPointer { types in
                        unsafe lengths.withUnsafeBufferPointer { lengths in
                            unsafe body(
                                Int32(clamping: count),
                                types.baseAddress,
                                values.baseAddress,
                                lengths.baseAddress,
                                formats.baseAddress
                            )
                        }
                    }
                }
            }
        }
    }
}
