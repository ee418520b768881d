internal import Ccurl
internal import Glibc

/// Many HTTP requests at once from one thread.
///
/// HTTP/1.1 and, where the server offers it over TLS, HTTP/2 with many requests on one connection. Certificates and host names
/// are always verified, TLS is at least 1.2; no redirects, no proxy, no cookies, no protocol but HTTP. Every request has a
/// deadline and limits on what comes back. Each started request ends in exactly one ``Completion``, except a cancelled one.
/// On a kept connection that ends without a byte of answer, libcurl sends the request once more on a new one: what must not be done
/// twice needs an id that the server knows it by.
///
/// ```
/// start(_:id:) ──▶ wait(upTo:also:) ──▶ takeCompleted() ──▶ id + Response | Failure
///                        ▲    └─ also returns when another descriptor of the lane is readable
/// ```
///
/// Lives on the thread that made it. On that thread SIGPIPE is blocked: TLS over a closed connection would raise it.
///
/// The corresponding C type is `CURLM`.
@safe package struct Client: ~Copyable {
    let configuration: Configuration
    private let multi: UnsafeMutableRawPointer
    private var transfers: [UInt64: Transfer] = [:]
    private var idleHandles: [UnsafeMutableRawPointer] = unsafe []
    private var completed: [Completion] = []

    /// The bounds that all requests share.
    package struct Configuration: Sendable {
        /// Connections to one host and port, default 8; more requests wait for a free one, or share one over HTTP/2.
        package var connectionsPerHost: Int
        /// Connections altogether, kept ones included; default 64.
        package var connections: Int
        /// Requests at once on one HTTP/2 connection, default 100; the server may allow fewer.
        package var streamsPerConnection: Int
        /// A connection without a request is reused only when it was idle for less than this; default 60 s.
        package var idleTime: Duration
        /// A connection older than this is not reused, so that changes of addresses and authorities arrive; default 10 min.
        package var connectionLifetime: Duration
        /// The answer's headers to keep, in lower case.
        package var keptHeaders: [String]

        package init(
            connectionsPerHost: Int = 8,
            connections: Int = 64,
            streamsPerConnection: Int = 100,
            idleTime: Duration = .seconds(60),
            connectionLifetime: Duration = .seconds(600),
            keptHeaders: [String] = ["content-type", "date", "retry-after"]
        ) {
            self.connectionsPerHost = connectionsPerHost
            self.connections = connections
            self.streamsPerConnection = streamsPerConnection
            self.idleTime = idleTime
            self.connectionLifetime = connectionLifetime
            self.keptHeaders = keptHeaders
        }
    }

    /// - Throws: ``ClientError/library(code:)`` when libcurl cannot be set up.
    package init(_ configuration: Configuration = Configuration()) throws(ClientError) {
        unsafe multi = try Client.makeMulti(configuration)
        self.configuration = configuration
        blockBrokenPipeSignal()
    }

    deinit {
        for transfer in transfers.values {
            unsafe curl_multi_remove_handle(multi, transfer.handle)
            unsafe curl_easy_cleanup(transfer.handle)
        }
        for index in unsafe idleHandles.indices { unsafe curl_easy_cleanup(idleHandles[index]) }
        unsafe curl_multi_cleanup(multi)
    }

    /// Requests that were started and have neither been completed nor cancelled.
    package var inFlight: Int { transfers.count }

    /// Takes a request on; it is sent by the next ``wait(upTo:also:)``.
    ///
    /// - Parameters:
    ///   - request: what to send and how; its body is kept until the end.
    ///   - id: names the request in its completion; free again as soon as the request is complete.
    /// - Throws: ``ClientError`` when the request is not well-formed; nothing has been sent then.
    package mutating func start(_ request: consuming Request, id: UInt64) throws(ClientError) {
        guard transfers[id] == nil else { throw .duplicateID(id) }
        try request.check()
        guard let handle = unsafe idleHandles.popLast() ?? curl_easy_init() else { throw .library(code: 0) }
        let transfer = unsafe Transfer(
            id: id,
            request: request,
            handle: handle,
            headerList: request.makeHeaderList(),
            keptHeaders: configuration.keptHeaders
        )
        do throws(ClientError) {
            try TransferOptions.set(for: request, on: transfer, configuration)
            let code = unsafe curl_multi_add_handle(multi, handle)
            guard code == CURLM_OK else { throw .library(code: Int(code.rawValue)) }
        } catch {
            unsafe curl_easy_cleanup(handle)
            throw error
        }
        transfers[id] = transfer
    }

    /// Sends and receives; returns when a request is complete, when `descriptor` is readable, or when the time is over.
    ///
    /// - Parameters:
    ///   - limit: the longest wait; zero only does what can be done at once.
    ///   - descriptor: another source of work of the caller's thread, such as an eventfd.
    /// - Returns: whether `descriptor` is readable (or broken).
    /// - Throws: ``ClientError/library(code:)``; the client is of no more use then.
    ///
    /// The corresponding C functions are `curl_multi_poll` and `curl_multi_perform`.
    @discardableResult
    package mutating func wait(upTo limit: Duration, also descriptor: CInt? = nil) throws(ClientError) -> Bool
    {
        let end = ContinuousClock.now + limit
        var isReadable = false
        try perform()
        repeat {
            let now = ContinuousClock.now
            let pause = completed.isEmpty ? max(.zero, min(end, nextDeadline ?? end) - now) : .zero
            isReadable = try poll(pause, descriptor)
            try perform()
            failOverdue(at: .now)
        } while completed.isEmpty && !isReadable && ContinuousClock.now < end
        return isReadable
    }

    /// The completions since the last call, in the order of completion.
    package mutating func takeCompleted() -> [Completion] {
        var taken: [Completion] = []
        swap(&taken, &completed)
        return taken
    }

    /// Forgets a request: there will be no completion.
    ///
    /// Whether the server carries it out is open.
    package mutating func cancel(_ id: UInt64) {
        if let transfer = transfers.removeValue(forKey: id) {
            retire(transfer)
        } else {
            completed.removeAll { $0.id == id }
        }
    }

    private static func makeMulti(
        _ configuration: Configuration
    ) throws(ClientError) -> UnsafeMutableRawPointer {
        guard Library.isReady, let multi = unsafe curl_multi_init() else { throw .library(code: 0) }
        let options: [(CURLMoption, Int)] = [
            (CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX),
            (CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connectionsPerHost),
            (CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.connections),
            (CURLMOPT_MAXCONNECTS, configuration.connections),
            (CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.streamsPerConnection),
        ]
        for (option, value) in options {
            let code = unsafe posthorn_curl_multi_set_long(multi, option, value)
            guard code == CURLM_OK else {
                unsafe curl_multi_cleanup(multi)
                throw .library(code: Int(code.rawValue))
            }
        }
        return unsafe multi
    }

    private var nextDeadline: ContinuousClock.Instant? {
        transfers.values.lazy.map(\.deadline).min()
    }

    private mutating func poll(_ pause: Duration, _ descriptor: CInt?) throws(ClientError) -> Bool {
        var extra = curl_waitfd(fd: descriptor ?? -1, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        var ready: CInt = 0
        let code = unsafe curl_multi_poll(
            multi,
            &extra,
            descriptor == nil ? 0 : 1,
            pause.clampedMilliseconds,
            &ready
        )
        guard code == CURLM_OK else { throw .library(code: Int(code.rawValue)) }
        return extra.revents != 0
    }

    private mutating func perform() throws(ClientError) {
        var running: CInt = 0
        let code = unsafe curl_multi_perform(multi, &running)
        guard code == CURLM_OK else { throw .library(code: Int(code.rawValue)) }
        var left: CInt = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            unsafe finish(message.pointee.easy_handle, posthorn_curl_message_result(message))
        }
    }

    private mutating func finish(_ handle: UnsafeMutableRawPointer?, _ code: CURLcode) {
        var context: UnsafeMutableRawPointer?
        unsafe posthorn_curl_get_data(handle, CURLINFO_PRIVATE, &context)
        let id = UInt64(UInt(bitPattern: context))
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        let result = TransferOutcome.result(of: transfer, code)
        retire(transfer)
        completed.append(Completion(id: id, result: result))
    }

    /// libcurl times only what it has given a connection; a request that still waits for one is ended here.
    private mutating func failOverdue(at now: ContinuousClock.Instant) {
        for transfer in transfers.values.filter({ $0.deadline <= now }) {
            transfers[transfer.id] = nil
            retire(transfer)
            completed.append(Completion(id: transfer.id, result: .failure(.timeout)))
        }
    }

    /// Takes the transfer from libcurl; its connection stays in the cache or, when in the middle of something, is closed.
    private mutating func retire(_ transfer: Transfer) {
        let handle = unsafe transfer.handle
        unsafe curl_multi_remove_handle(multi, handle)
        if unsafe idleHandles.count < configuration.connections {
            unsafe curl_easy_reset(handle)
            unsafe idleHandles.append(handle)
        } else {
            unsafe curl_easy_cleanup(handle)
        }
    }
}

private enum Library {
    /// `curl_global_init`, once for the process.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

private func blockBrokenPipeSignal() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}

extension Duration {
    /// Whole milliseconds, rounded up, from 0 to what a C `int` holds.
    var clampedMilliseconds: CInt {
        let (seconds, attoseconds) = components
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? 0 : .max }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return CInt(clamping: max(0, milliseconds.addingReportingOverflow(fraction).partialValue))
    }
}
