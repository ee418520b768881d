internal import Cmicrohttpd
internal import Glibc
internal import Synchronization

/// What the threads of one server share: its connections, its certificates, its handler.
///
/// libmicrohttpd knows it by ``id`` only; see ``Registry``.
final class Core: Sendable {
    typealias Handler = @Sendable (Request, Responder) throws -> Void

    let id: UInt
    let configuration: Server.Configuration
    let timekeeper: Timekeeper
    let door: ListenSocket
    let isDraining = Atomic(false)
    /// nil once the server has stopped: what it keeps may keep responders, and those keep the core.
    private let handler: Mutex<Handler?>
    private let table = Mutex(Table())
    private let daemon = Atomic<UInt>(0)
    /// No descriptor was left for the last connection; cleared with the next round of housekeeping.
    private let isExhausted = Atomic(false)
    private let credentialFiles: Mutex<CredentialFiles?>
    private let isAdopting = Mutex(true)

    private struct Table {
        var connections: [UInt: Connection] = [:]
        var lastID: UInt = 0
    }

    init(_ configuration: Server.Configuration, _ handler: @escaping Handler) throws(ServerError) {
        self.configuration = configuration
        self.handler = Mutex(handler)
        var files: CredentialFiles?
        if let paths = configuration.tls {
            do throws(TLSFault) { files = try CredentialFiles(paths) } catch { throw .tls(error) }
        }
        credentialFiles = Mutex(files)
        timekeeper = try Timekeeper()
        door = try ListenSocket(configuration.listen)
        id = Registry.newID()
    }

    func handle(_ request: Request, _ responder: Responder) throws {
        let handler = handler.withLock(\.self)
        try handler?(request, responder)
    }

    /// Nothing calls the handler any more.
    func dismissHandler() {
        // Let go outside the lock: what it keeps may answer as it goes.
        _ = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
    }

    var credentials: Credentials? { credentialFiles.withLock { $0?.current } }

    var tlsFault: TLSFault? { credentialFiles.withLock { $0?.fault } }

    var connectionCount: Int { table.withLock { $0.connections.count } }

    func add(_ connection: Connection) -> UInt {
        table.withLock { table in
            table.lastID += 1
            table.connections[table.lastID] = connection
            return table.lastID
        }
    }

    func connection(_ id: UInt) -> Connection? {
        table.withLock { $0.connections[id] }
    }

    /// libmicrohttpd is about to close the socket.
    func remove(_ id: UInt) {
        let (removed, wasFull) = table.withLock { table in
            let wasFull = table.connections.count >= configuration.limits.connections
            return (table.connections.removeValue(forKey: id), wasFull)
        }
        removed?.update { $0.closed() }
        if wasFull { timekeeper.wake() }
    }

    /// From now on new connections go to this `MHD_Daemon`.
    func serve(with daemon: UInt) {
        self.daemon.store(daemon, ordering: .releasing)
    }

    /// Where new connections come from; nil while there may be no more.
    ///
    /// Those over the limit wait in the system's queue.
    var openDoor: CInt? {
        isDraining.load(ordering: .relaxed) || isExhausted.load(ordering: .relaxed)
            || connectionCount >= configuration.limits.connections
            ? nil : door.descriptor
    }

    /// Hands the connections that wait to libmicrohttpd, which owns their sockets then, also where it refuses them.
    func acceptWaiting() {
        let daemon = unsafe OpaquePointer(bitPattern: daemon.load(ordering: .acquiring))
        var room = configuration.limits.connections - connectionCount
        while room > 0 {
            guard let accepted = door.accept() else {
                let shortages = [EMFILE, ENFILE, ENOBUFS, ENOMEM]
                if shortages.contains(errno) { isExhausted.store(true, ordering: .relaxed) }
                return
            }
            if configuration.greet?(accepted.descriptor) == true { continue }
            room -= 1
            unsafe withUnsafeBytes(of: accepted.address) { bytes in
                let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
                _ = unsafe MHD_add_connection(daemon, accepted.descriptor, address, accepted.length)
            }
        }
    }

    /// Takes over a connection that was accepted elsewhere; it is closed when there is no room for it.
    func adopt(_ descriptor: CInt) {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // The lock keeps the daemon from being stopped meanwhile.
        isAdopting.withLock { isAdopting in
            guard isAdopting, connectionCount < configuration.limits.connections else {
                close(descriptor)
                return
            }
            let daemon = unsafe OpaquePointer(bitPattern: daemon.load(ordering: .acquiring))
            unsafe withUnsafeMutableBytes(of: &address) { bytes in
                let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
                _ = unsafe getpeername(descriptor, address, &length)
                _ = unsafe MHD_add_connection(daemon, descriptor, address, length)
            }
        }
    }

    /// From now on no connection is taken over.
    func endAdoption() {
        isAdopting.withLock { $0 = false }
    }

    var allConnections: [Connection] {
        table.withLock { Array($0.connections.values) }
    }

    /// Enforces deadlines and looks after certificates.
    ///
    /// - Returns: when it has to be called again: a deadline set after this round cannot come before that.
    func housekeeping(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        isExhausted.store(false, ordering: .relaxed)
        credentialFiles.withLock { $0?.look(at: now) }
        var next = now + min(.seconds(1), configuration.limits.shortestTime)
        for connection in allConnections {
            if let deadline = connection.enforceDeadline(at: now) { next = min(next, deadline) }
        }
        return max(next, now + .milliseconds(10))
    }
}

/// The servers of this process by the integer that C gets instead of a pointer.
enum Registry {
    private static let cores = Mutex<[UInt: Core]>([:])
    private static let lastID = Atomic<UInt>(0)

    static func newID() -> UInt {
        lastID.add(1, ordering: .relaxed).newValue
    }

    static func add(_ core: Core) {
        cores.withLock { $0[core.id] = core }
    }

    static func remove(_ core: Core) {
        cores.withLock { $0[core.id] = nil }
    }

    static func core(_ id: UInt) -> Core? {
        cores.withLock { $0[id] }
    }
}
