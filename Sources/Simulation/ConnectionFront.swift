internal import Glibc
internal import HTTPServer
internal import Synchronization

/// Stands before a simulated gateway and decides what becomes of each connection, as the phase of its script says.
///
/// Runs on the thread on which the first server accepts. Served connections stay with it or go to the server with the phase's certificate;
/// those that are not are closed, or held and never answered: at most 256, beyond that the oldest is closed.
final class ConnectionFront: Sendable {
    private let player: ScriptPlayer
    private let ledger: GatewayLedger?
    /// The servers behind the first, by their certificate's name.
    private let receptions: [String: Reception]
    private let held = Mutex<[CInt]>([])

    private static let heldLimit = 256

    init(player: ScriptPlayer, ledger: GatewayLedger?, receptions: [String: Reception]) {
        self.player = player
        self.ledger = ledger
        self.receptions = receptions
    }

    deinit {
        for descriptor in held.withLock(\.self) { close(descriptor) }
    }

    /// - Returns: whether the connection is out of the first server's hands.
    func greet(_ descriptor: CInt) -> Bool {
        switch player.connection {
        case .serve(let identity):
            guard let reception = receptions[identity] else { return false }
            reception.take(descriptor)
            return true
        case .close: close(descriptor)
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(
                descriptor,
                SOL_SOCKET,
                SO_LINGER,
                &linger,
                socklen_t(MemoryLayout<Glibc.linger>.size)
            )
            close(descriptor)
        case .hang: hold(descriptor)
        case .garbage:
            let bytes = Array("220 mail.example ESMTP ready\r\n".utf8)
            _ = unsafe bytes.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            }
            // Closed at once, what was sent could be lost with what was not read.
            hold(descriptor)
        }
        ledger?.noteTurnedAway(player.origin.name)
        return true
    }

    private func hold(_ descriptor: CInt) {
        let ended = held.withLock { held in
            held.append(descriptor)
            var ended = held.filter(isLeft)
            held.removeAll(where: ended.contains)
            if held.count > Self.heldLimit { ended.append(held.removeFirst()) }
            return ended
        }
        for descriptor in ended { close(descriptor) }
    }

    /// Whether the client has closed its end.
    private func isLeft(_ descriptor: CInt) -> Bool {
        let hungUp = Int16(0x2000)  // POLLRDHUP, which Glibc's module lacks
        var waiting = pollfd(fd: descriptor, events: hungUp, revents: 0)
        return unsafe poll(&waiting, 1, 0) > 0
    }
}
