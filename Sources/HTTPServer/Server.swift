internal import Cmicrohttpd
internal import Glibc
internal import Synchronization

/// An HTTP/1.1 server, with TLS where it has certificates.
///
/// Runs on threads of its own from `init` to `deinit`. Every client has totals of time and bytes, see ``Limits``. What can be read in two
/// ways is refused (``Refusal/malformed``). A handler may answer at once, or keep the ``Responder`` and answer later; meanwhile its
/// connection costs memory but no thread.
///
/// The corresponding C type is `MHD_Daemon`.
package struct Server: ~Copyable, Sendable {
    /// The real port, also where the configuration says 0.
    package let port: UInt16
    private let core: Core
    private let daemon: UInt
    private let timekeeperThread: pthread_t
    private var isStopped = false

    /// Starts a server whose handler answers at once.
    ///
    /// - Parameters:
    ///   - configuration: where to listen, and the limits.
    ///   - handler: called on a server thread, so it must not wait for anything; when it throws, the answer is ``Refusal/handlerFailed``.
    /// - Throws: ``ServerError`` when the address or a certificate cannot be used.
    package init(
        _ configuration: Configuration,
        handler: @escaping @Sendable (Request) throws -> Response
    ) throws(ServerError) {
        try self.init(
            configuration,
            deferring: { request, responder in responder.answer(try handler(request)) }
        )
    }

    /// Starts a server whose handler may answer later.
    ///
    /// - Parameters:
    ///   - configuration: where to listen, and the limits.
    ///   - handler: called on a server thread; it answers, or keeps the responder for later, but does not wait.
    /// - Throws: ``ServerError`` when the address or a certificate cannot be used.
    package init(
        _ configuration: Configuration,
        deferring handler: @escaping @Sendable (Request, Responder) throws -> Void
    ) throws(ServerError) {
        let core = try Core(configuration, handler)
        let threads = try Server.start(core)
        (daemon, timekeeperThread) = threads
        port = core.door.port
        self.core = core
    }

    deinit {
        if !isStopped { Server.stop(core, daemon, timekeeperThread) }
    }

    /// Open connections, idle ones included.
    package var connections: Int { core.connectionCount }

    /// Where another server's ``Configuration/greet`` hands connections over.
    package var reception: Reception { Reception(core: core) }

    /// Why the certificate files on disk are not in use; nil when they are.
    package var tlsFault: TLSFault? { core.tlsFault }

    /// Takes no more connections, lets every request in flight be answered, and stops.
    ///
    /// - Parameter grace: how long to wait for clients and handlers; what is not done then is broken off.
    /// - Returns: whether everything was answered.
    package mutating func drain(within grace: Duration) -> Bool {
        guard !isStopped else { return true }
        isStopped = true
        let end = ContinuousClock.now + grace
        core.isDraining.store(true, ordering: .relaxed)
        core.endAdoption()
        core.acceptWaiting()
        core.door.refuseConnections()
        while core.connectionCount > 0, ContinuousClock.now < end {
            for connection in core.allConnections { connection.closeIfIdle(at: .now) }
            _ = poll(nil, 0, 5)
        }
        let isDone = core.connectionCount == 0
        Server.stop(core, daemon, timekeeperThread)
        return isDone
    }

    /// Breaks off what is left and ends the threads.
    private static func stop(_ core: Core, _ daemon: UInt, _ timekeeperThread: pthread_t) {
        core.isDraining.store(true, ordering: .relaxed)
        core.endAdoption()
        core.door.refuseConnections()
        core.timekeeper.stop()
        pthread_join(timekeeperThread, nil)
        // libmicrohttpd must not be stopped with connections put aside: it ends the process then.
        let end = ContinuousClock.now + .seconds(5)
        repeat {
            for connection in core.allConnections { connection.abandon() }
            _ = poll(nil, 0, 2)
        } while core.connectionCount > 0 && ContinuousClock.now < end
        unsafe MHD_stop_daemon(OpaquePointer(bitPattern: daemon))
        core.dismissHandler()
        Registry.remove(core)
    }

    private static func start(_ core: Core) throws(ServerError) -> (daemon: UInt, timekeeper: pthread_t) {
        Registry.add(core)
        do throws(ServerError) {
            let daemon = try startDaemon(core)
            core.serve(with: daemon)
            return (daemon, try startTimekeeper(core, daemon))
        } catch {
            Registry.remove(core)
            throw error
        }
    }

    private static func startDaemon(_ core: Core) throws(ServerError) -> UInt {
        let limits = core.configuration.limits
        let credentials = core.credentials
        var options = unsafe posthorn_mhd_options()
        unsafe options.threads = UInt32(clamping: max(1, core.configuration.threads))
        // Half of it is for the header; the rest is the buffer through which bodies come.
        unsafe options.memory_per_connection = max(64 << 10, 2 * limits.headerBytes)
        // Ours is the limit; libmicrohttpd divides its own among its threads, and not evenly.
        unsafe options.connections = UInt32(clamping: max(1, limits.connections) * 2 + 64)
        unsafe options.connections_per_address = UInt32(clamping: limits.connectionsPerAddress ?? 0)
        unsafe options.identifier = UnsafeMutableRawPointer(bitPattern: core.id)
        let daemon: OpaquePointer? = unsafe (credentials?.certificateText ?? []).withUnsafeBytes {
            certificate in
            unsafe (credentials?.keyText ?? []).withUnsafeBytes { key in
                if credentials != nil {
                    unsafe options.certificate = certificate.assumingMemoryBound(to: CChar.self).baseAddress
                    unsafe options.key = key.assumingMemoryBound(to: CChar.self).baseAddress
                }
                return unsafe start(&options)
            }
        }
        guard let daemon = unsafe daemon else {
            throw .library(code: errno)
        }
        return UInt(bitPattern: daemon)
    }

    private static func start(_ options: UnsafePointer<posthorn_mhd_options>) -> OpaquePointer? {
        unsafe posthorn_mhd_start(
            options,
            { unsafe Callbacks.handle($0, $1, $3, $4, $5, $6, $7) },
            { unsafe Callbacks.requestLine($0, $1, $2) },
            { server, handle, _, _ in unsafe Callbacks.completed(server, handle) },
            { unsafe Callbacks.connection($0, $1, $2, $3) }
        )
    }

    private static func startTimekeeper(_ core: Core, _ daemon: UInt) throws(ServerError) -> pthread_t {
        var thread = pthread_t()
        let id = unsafe UnsafeMutableRawPointer(bitPattern: core.id)
        let code = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let core = Registry.core(UInt(bitPattern: context)) else { return nil }
                core.timekeeper.run(
                    watching: { core.openDoor },
                    open: { core.acceptWaiting() },
                    housekeeping: { core.housekeeping(at: $0) }
                )
                return nil
            },
            id
        )
        guard code == 0 else {
            unsafe MHD_stop_daemon(OpaquePointer(bitPattern: daemon))
            throw .library(code: code)
        }
        return thread
    }
}
