import Glibc
import HTTPClient
import HTTPServer
import LocalServices
import Support
import Synchronization
import Testing

struct ClientTLSTests {
    @Test func `a server of a trusted authority is talked to and its kept connection reused`() throws {
        let authority = try TestAuthority()
        let server = try echoServer(try authority.serverPaths())
        var client = try Client()
        let identity = try authority.identity()
        let first = try client.exchange(.secure(server.port, identity)).get()
        let second = try client.exchange(.secure(server.port, identity)).get()
        #expect(first.body == Array("hello".utf8))
        #expect(!first.timing.reusedConnection)
        #expect(second.timing.reusedConnection)
        // libmicrohttpd has no HTTP/2; the client offers it and takes what it gets.
        #expect(first.version == .http1)
    }

    @Test func `a server of an unknown authority is not talked to`() throws {
        let authority = try TestAuthority()
        let other = try TestAuthority()
        let server = try echoServer(try authority.serverPaths())
        var client = try Client()
        let unknown = Failure.tlsHandshake(.unknownAuthority)
        #expect(try client.exchange(.secure(server.port, nil)).failure == unknown)
        #expect(try client.exchange(.secure(server.port, other.identity())).failure == unknown)
    }

    @Test func `an expired certificate is told from an unknown one`() throws {
        let authority = try TestAuthority()
        let server = try echoServer(
            try authority.serverPaths(authority.issue("old", for: .server, hasExpired: true))
        )
        var client = try Client()
        let result = try client.exchange(.secure(server.port, authority.identity()))
        #expect(result.failure == .tlsHandshake(.expired))
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `a certificate for another name is not accepted`(host: String) throws {
        let authority = try TestAuthority()
        let pair = try authority.issue(
            "else",
            for: .server,
            alternativeNames: "DNS:gateway.example,IP:10.1.1.1"
        )
        let server = try echoServer(try authority.serverPaths(pair))
        var client = try Client()
        let result = try client.exchange(.secure(server.port, authority.identity(), host: host))
        #expect(result.failure == .tlsHandshake(.hostname))
    }

    @Test func `the server sees the client certificate`() throws {
        let authority = try TestAuthority()
        var paths = try authority.serverPaths()
        paths.clientAuthorities = authority.path
        let server = try Server(
            Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: 0), tls: paths)
        ) { request in
            .text(200, request.peer.certificate.map { "\($0.subject) \($0.fingerprint.count)" } ?? "none")
        }
        var client = try Client()
        let identity = try authority.identity(client: authority.issue("fachdienst", for: .client))
        let response = try client.exchange(.secure(server.port, identity)).get()
        #expect(String(decoding: response.body, as: UTF8.self) == "CN=fachdienst 32")
    }

    @Test func `a client without a certificate in order is answered 401`() throws {
        let authority = try TestAuthority()
        let other = try TestAuthority()
        var paths = try authority.serverPaths()
        paths.clientAuthorities = authority.path
        let server = try echoServer(paths)
        let stranger = try other.issue("stranger", for: .client)
        let wrongUse = try authority.issue("server-as-client", for: .server)
        let expired = try authority.issue("expired", for: .client, hasExpired: true)
        for pair in [nil, stranger, wrongUse, expired] {
            var client = try Client()
            var request = ClientRequest.secure(server.port, try authority.identity(client: pair))
            request.body = Array(repeating: 1, count: 190_000)
            #expect(try client.exchange(request).get().status == 401)
        }
    }

    /// Under TLS 1.2 a missing certificate is only a `handshake_failure`, which can mean anything.
    @Test(arguments: [
        (true, "-tls1_2", Failure.TLSFault.clientCertificateRefused),
        (true, "-tls1_3", .clientCertificateRefused),
        (false, "-tls1_2", .other), (false, "-tls1_3", .clientCertificateRefused),
    ])
    func `a server that turns the client certificate down in the handshake is recognised`(
        shows: Bool,
        version: String,
        fault: Failure.TLSFault
    ) throws {
        let authority = try TestAuthority()
        let other = try TestAuthority()
        let pair = try authority.issue("server", for: .server)
        let port = try FreePort.pick()
        var command = ChildProcess.Command(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", pair.certificate, "-key", pair.key,
                "-CAfile",
                authority.path, "-Verify", "1", "-verify_return_error", "-quiet", "-www", version,
            ]
        )
        command.output = .discard
        let peer = try ChildProcess(command)
        defer { peer.stop(SIGKILL) }
        try eventually("s_server listens") { FreePort.accepts(port) }
        var client = try Client()
        let shown = shows ? try other.issue("stranger", for: .client) : nil
        let result = try client.exchange(.secure(port, authority.identity(client: shown)))
        #expect(result.failure == .tlsHandshake(fault))
    }

    @Test func `a server without TLS 1.2 or later is not talked to`() throws {
        let authority = try TestAuthority()
        let pair = try authority.issue("server", for: .server)
        let port = try FreePort.pick()
        var command = ChildProcess.Command(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", pair.certificate, "-key", pair.key,
                "-tls1_1",
                "-cipher", "DEFAULT@SECLEVEL=0", "-quiet", "-www",
            ]
        )
        command.output = .discard
        let peer = try ChildProcess(command)
        defer { peer.stop(SIGKILL) }
        try eventually("s_server listens") { FreePort.accepts(port) }
        var client = try Client()
        #expect(try client.exchange(.secure(port, authority.identity())).failure == .tlsHandshake(.other))
    }

    @Test func `another identity means another connection`() throws {
        let authority = try TestAuthority()
        var paths = try authority.serverPaths()
        paths.clientAuthorities = authority.path
        let server = try Server(
            Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: 0), tls: paths)
        ) { .text(200, $0.peer.certificate?.subject ?? "") }
        var client = try Client()
        for name in ["one", "two"] {
            let identity = try authority.identity(client: authority.issue(name, for: .client))
            let response = try client.exchange(.secure(server.port, identity)).get()
            #expect(String(decoding: response.body, as: UTF8.self) == "CN=\(name)")
            #expect(!response.timing.reusedConnection)
        }
    }

    @Test func `a server without HTTP2 gets requests at once on several connections`() throws {
        let authority = try TestAuthority()
        let kept = Mutex<[Responder]>([])
        let server = try Server(
            Server.Configuration(
                listen: ListenAddress(host: "127.0.0.1", port: 0),
                tls: try authority.serverPaths()
            ),
            deferring: { _, responder in kept.withLock { $0.append(responder) } }
        )
        var client = try Client()
        let identity = try authority.identity()
        for id in 1...5 { try client.start(.secure(server.port, identity), id: UInt64(id)) }
        let deadline = ContinuousClock.now + .seconds(30)
        while kept.withLock(\.count) < 5, ContinuousClock.now < deadline {
            try client.wait(upTo: .milliseconds(10))
        }
        #expect(kept.withLock(\.count) == 5)
        kept.withLock { for responder in $0 { responder.answer(.text(200, "ok")) } }
        #expect(try client.complete(5).allSatisfy { $0.result.success?.status == 200 })
    }

    @Test func `plain text on a TLS port is a failed handshake`() throws {
        let server = try echoServer()
        var client = try Client()
        #expect(try client.exchange(.secure(server.port, nil)).failure == .tlsHandshake(.other))
    }
}

struct TLSIdentityTests {
    @Test func `certificate and key must belong together`() throws {
        let authority = try TestAuthority()
        let one = try authority.issue("one", for: .client)
        let two = try authority.issue("two", for: .client)
        let certificate = try #require(Files.read(one.certificate))
        let key = try #require(Files.read(one.key))
        let otherKey = try #require(Files.read(two.key))
        _ = try TLSIdentity(certificates: certificate, key: key)
        #expect(throws: IdentityError.mismatch) { try TLSIdentity(certificates: certificate, key: otherKey) }
        #expect(throws: IdentityError.incomplete(missing: .key)) {
            try TLSIdentity(certificates: certificate)
        }
        #expect(throws: IdentityError.incomplete(missing: .certificate)) { try TLSIdentity(key: key) }
        #expect(throws: IdentityError.unreadable(.key)) {
            try TLSIdentity(certificates: certificate, key: [1, 2])
        }
        let half = Array(certificate.prefix(certificate.count / 2))
        #expect(throws: IdentityError.unreadable(.certificate)) {
            try TLSIdentity(certificates: half, key: key)
        }
        #expect(throws: IdentityError.unreadable(.authorities)) {
            try TLSIdentity(authorities: certificate + half)
        }
        #expect(throws: IdentityError.unreadable(.authorities)) { try TLSIdentity(authorities: []) }
    }

    @Test func `changed files are used, half-written ones are not`() throws {
        let authority = try TestAuthority()
        let one = try authority.issue("one", for: .client)
        let two = try authority.issue("two", for: .client)
        let folder = try TemporaryFolder(prefix: "posthorn-files")
        let paths = TLSFiles.Paths(certificate: "\(folder.path)/c.pem", key: "\(folder.path)/k.pem")
        try copy(one, to: paths)
        var files = try TLSFiles(paths, lookingEvery: .seconds(1))
        let before = files.current()
        var now = ContinuousClock.now
        let look = { (files: inout TLSFiles) in
            now += .seconds(2)
            return files.current(at: now)
        }

        try Files.write(text(two.certificate), to: "\(folder.path)/c.pem")
        #expect(look(&files) == before)
        #expect(files.fault == .mismatch)
        try Files.write(text(two.key), to: "\(folder.path)/k.pem")
        let after = look(&files)
        #expect(after != before)
        #expect(files.fault == nil)
        try Files.write(String(try text(one.certificate).prefix(300)), to: "\(folder.path)/c.pem")
        #expect(look(&files) == after)
        #expect(files.fault == .unreadable(.certificate))
    }

    @Test func `a look is not taken before its time`() throws {
        let authority = try TestAuthority()
        let folder = try TemporaryFolder(prefix: "posthorn-files")
        let paths = TLSFiles.Paths(certificate: "\(folder.path)/c.pem", key: "\(folder.path)/k.pem")
        try copy(authority.issue("one", for: .client), to: paths)
        var files = try TLSFiles(paths, lookingEvery: .seconds(600))
        let before = files.current()
        try copy(authority.issue("two", for: .client), to: paths)
        #expect(files.current() == before)
        #expect(files.current(at: .now + .seconds(601)) != before)
    }

    @Test func `an identity does not print its key`() throws {
        let authority = try TestAuthority()
        let identity = try authority.identity(client: authority.issue("one", for: .client))
        #expect("\(identity)" == "TLS identity (own authorities, a client certificate)")
    }

    private func copy(_ pair: TestAuthority.Pair, to paths: TLSFiles.Paths) throws {
        try Files.write(text(pair.certificate), to: try #require(paths.certificate))
        try Files.write(text(pair.key), to: try #require(paths.key))
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try #require(Files.read(path)), as: UTF8.self)
    }
}

extension TestAuthority {
    func serverPaths(_ pair: Pair? = nil) throws -> Server.TLSPaths {
        let pair = try pair ?? issue("server", for: .server)
        return Server.TLSPaths(certificate: pair.certificate, key: pair.key)
    }

    /// Trusts this authority; shows `client`.
    func identity(client: Pair? = nil) throws -> TLSIdentity {
        try TLSIdentity(
            authorities: Files.read(path),
            certificates: client.flatMap { Files.read($0.certificate) },
            key: client.flatMap { Files.read($0.key) }
        )
    }
}
