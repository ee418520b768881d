import Glibc
import HTTPClient
import LocalServices
import Support
import Testing

struct HTTP2Tests {
    @Test func `requests share one HTTP2 connection and are answered in any order`() throws {
        let authority = try TestAuthority()
        var peer = try HTTP2Peer(authority.issue("server", for: .server))
        var client = try Client()
        let identity = try authority.identity()
        for id in 1...3 { try client.start(.secure(peer.port, identity), id: UInt64(id)) }
        try drive(&client, &peer) { $0.completeStreams.count == 3 }
        #expect(Set(peer.completeStreams) == [1, 3, 5])
        for stream in peer.completeStreams.reversed() { peer.answer(stream) }
        let completions = try client.complete(3)
        for completion in completions {
            let response = try completion.result.get()
            #expect(response.status == 200)
            #expect(response.version == .http2)
        }
    }

    @Test func `a stream that the server resets fails alone`() throws {
        let authority = try TestAuthority()
        var peer = try HTTP2Peer(authority.issue("server", for: .server))
        var client = try Client()
        let identity = try authority.identity()
        for id in 1...2 { try client.start(.secure(peer.port, identity), id: UInt64(id)) }
        try drive(&client, &peer) { $0.completeStreams.count == 2 }
        peer.reset(1)
        peer.answer(3)
        let completions = try client.complete(2)
        #expect(completions.count { $0.result.success?.status == 200 } == 1)
        #expect(completions.count { $0.result.failure?.isRetriable == true } == 1)
    }

    @Test func `a stream that is never answered times out and the connection goes on`() throws {
        let authority = try TestAuthority()
        var peer = try HTTP2Peer(authority.issue("server", for: .server))
        var client = try Client()
        let identity = try authority.identity()
        var hanging = ClientRequest.secure(peer.port, identity)
        hanging.limits.total = .milliseconds(1500)
        try client.start(hanging, id: 1)
        try drive(&client, &peer) { $0.completeStreams.count == 1 }
        #expect(try client.complete(1).first?.result.failure == .timeout)
        try client.start(.secure(peer.port, identity), id: 2)
        try drive(&client, &peer) { $0.completeStreams.count == 2 }
        peer.answer(3)
        #expect(try client.complete(1).first?.result.get().timing.reusedConnection == true)
    }

    private func drive(
        _ client: inout Client,
        _ peer: inout HTTP2Peer,
        until isDone: (HTTP2Peer) -> Bool
    ) throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !isDone(peer), ContinuousClock.now < deadline {
            try client.wait(upTo: .milliseconds(10))
            peer.read()
        }
        try #require(isDone(peer))
    }
}

/// The least of an HTTP/2 server (RFC 9113): TLS and ALPN by `openssl s_server`, frames by hand.
final class HTTP2Peer {
    let port: UInt16
    /// Streams whose request is complete, in the order of completion.
    private(set) var completeStreams: [UInt32] = []
    private let process: ChildProcess
    private let folder: TemporaryFolder
    private let toPeer: CInt
    private let fromPeer: CInt
    private var received: [UInt8] = []
    private var isPrefaceRead = false

    init(_ pair: TestAuthority.Pair) throws {
        folder = try TemporaryFolder(prefix: "posthorn-h2")
        port = try FreePort.pick()
        let (input, output) = ("\(folder.path)/in", "\(folder.path)/out")
        // Named pipes, opened for both directions so that neither side waits for the other to open.
        let codes = unsafe (mkfifo(input, 0o600), mkfifo(output, 0o600))
        try #require(codes == (0, 0))
        toPeer = unsafe open(input, O_RDWR | O_CLOEXEC)
        fromPeer = unsafe open(output, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        var command = ChildProcess.Command(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", pair.certificate, "-key", pair.key,
                "-alpn", "h2",
                "-quiet",
            ]
        )
        command.input = input
        command.output = .files(output: output, error: "\(folder.path)/err")
        process = try ChildProcess(command)
        // Looks without connecting: s_server serves one connection after the other, and the first must be the client's.
        try eventually("s_server listens") { [port] in isListening(port) }
    }

    deinit {
        process.stop(SIGKILL)
        close(toPeer)
        close(fromPeer)
    }

    func read() {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(fromPeer, $0.baseAddress, $0.count)
            }
            guard count > 0 else { break }
            received.append(contentsOf: chunk[..<count])
        }
        if !isPrefaceRead, received.starts(with: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) {
            received.removeFirst(24)
            isPrefaceRead = true
            send(type: 4, flags: 0, stream: 0, [])
        }
        while isPrefaceRead, let frame = takeFrame() { take(frame) }
    }

    /// HEADERS with END_HEADERS and END_STREAM; 0x88 is `:status: 200` of HPACK's static table.
    func answer(_ stream: UInt32) {
        send(type: 1, flags: 0x5, stream: stream, [0x88])
    }

    /// RST_STREAM with REFUSED_STREAM would be sent again by the client itself; INTERNAL_ERROR is told.
    func reset(_ stream: UInt32) {
        send(type: 3, flags: 0, stream: stream, [0, 0, 0, 2])
    }

    private struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: UInt32
    }

    private func takeFrame() -> Frame? {
        guard received.count >= 9 else { return nil }
        let length = Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2])
        guard received.count >= 9 + length else { return nil }
        let stream = received[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let frame = Frame(type: received[3], flags: received[4], stream: stream)
        received.removeFirst(9 + length)
        return frame
    }

    private func take(_ frame: Frame) {
        switch frame.type {
        case 4 where frame.flags & 1 == 0: send(type: 4, flags: 1, stream: 0, [])
        case 0, 1: if frame.flags & 1 == 1 { completeStreams.append(frame.stream) }
        default: break
        }
    }

    private func send(type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) {
        let head: [UInt8] = [0, 0, UInt8(payload.count), type, flags]
        let number = (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) }
        let bytes = head + number + payload
        _ = unsafe bytes.withUnsafeBytes { unsafe write(toPeer, $0.baseAddress, $0.count) }
    }
}

/// Whether a loopback socket listens on the port, from `/proc/net/tcp`.
private func isListening(_ port: UInt16) -> Bool {
    let hex = String(port, radix: 16, uppercase: true)
    let local = "0100007F:" + String(repeating: "0", count: 4 - hex.count) + hex
    return String(decoding: Files.read("/proc/net/tcp") ?? [], as: UTF8.self)
        .split(separator: "\n")
        .contains { $0.contains(local) && $0.contains(" 0A ") }
}
