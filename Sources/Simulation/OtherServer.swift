internal import HTTPServer
internal import Synchronization

/// A server in an array: a lock owns it, since it cannot be copied.
final class OtherServer: Sendable {
    private let server: Mutex<Server>

    init(_ server: consuming sending Server) {
        self.server = Mutex(server)
    }

    func drain(within grace: Duration) -> Bool {
        server.withLock { $0.drain(within: grace) }
    }
}
