internal import Cpq
internal import Glibc

extension Configuration {
    /// Makes a session; the caller owns it.
    ///
    /// - Throws: the class that the server gave, otherwise ``PostgresError/Kind/connectionLost``.
    ///
    /// The corresponding C functions are `PQconnectStartParams` and `PQconnectPoll`.
    func connect(until deadline: ContinuousClock.Instant, interrupt: Int32) throws(PostgresError) -> Wire {
        guard let connection = unsafe start() else {
            throw PostgresError(.insufficientResources, "no memory for a connection")
        }
        do {
            unsafe PQsetNoticeReceiver(connection, ignoreNotice, nil)
            // Only verbose messages carry the SQLSTATE of a refused connection.
            unsafe PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
            try unsafe Self.complete(connection, until: deadline, interrupt: interrupt)
            unsafe PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
            return unsafe Wire(connection)
        } catch {
            unsafe PQfinish(connection)
            throw error
        }
    }

    private static func complete(
        _ connection: OpaquePointer,
        until deadline: ContinuousClock.Instant,
        interrupt: Int32
    ) throws(PostgresError) {
        // Until the first poll libpq wants to write, its documentation says.
        var state = PGRES_POLLING_WRITING
        while unsafe PQstatus(connection) != CONNECTION_BAD {
            // The socket may be another one after each poll.
            let outcome = unsafe Waiting.wait(
                socket: PQsocket(connection),
                writing: state == PGRES_POLLING_WRITING,
                interrupt: interrupt,
                until: deadline
            )
            switch outcome {
            case .timedOut: throw PostgresError(.connectionLost, "no connection within the time allowed")
            case .interrupted: throw PostgresError(.interrupted, "stopped by its caller while connecting")
            case .ready: state = unsafe PQconnectPoll(connection)
            }
            if state == PGRES_POLLING_OK {
                if unsafe PQsetnonblocking(connection, 1) == 0 { return }
                break
            }
            if state == PGRES_POLLING_FAILED { break }
        }
        throw unsafe PostgresError(connection: connection)
    }

    /// Starts to connect with these options; nil if there is no memory.
    private func start() -> OpaquePointer? {
        var keywords: [UnsafePointer<CChar>?] = unsafe []
        var values: [UnsafePointer<CChar>?] = unsafe []
        defer {
            for index in options.indices {
                unsafe free(UnsafeMutablePointer(mutating: keywords[index]))
                unsafe free(UnsafeMutablePointer(mutating: values[index]))
            }
        }
        for option in options {
            unsafe keywords.append(UnsafePointer(strdup(option.keyword)))
            unsafe values.append(UnsafePointer(strdup(option.value)))
        }
        unsafe keywords.append(nil)
        unsafe values.append(nil)
        return unsafe PQconnectStartParams(keywords, values, 0)
    }
}

/// Notices and warnings say nothing that this program acts on, and libpq would print them.
private func ignoreNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {}
