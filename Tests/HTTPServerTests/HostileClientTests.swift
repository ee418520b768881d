import HTTPClient
import HTTPServer
import LocalServices
import Support
import Synchronization
import Testing

/// Clients that send too much, too slowly, or in more than one sense.
struct HostileClientTests {
    @Test(arguments: [
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\u{b}chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n x\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n 5\r\n\r\nhello",
        "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\n",
        "GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\n\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\rY: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nHost: g\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /a\u{1}b HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
    ])
    func `a request of two meanings is refused and nothing after it is read as a request`(text: String) throws
    {
        let paths = Mutex<[String]>([])
        let server = try Server(configuration()) { request in
            paths.withLock { $0.append(request.path) }
            return .text(200, "served")
        }
        let answer = try talk(
            server.port,
            text + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n",
            for: .seconds(2)
        )
        #expect(answer.text.hasPrefix("HTTP/1.1 400"))
        #expect(!answer.text.contains("served"))
        #expect(answer.isClosed)
        #expect(paths.withLock(\.self).isEmpty)
    }

    @Test(arguments: [
        "x\r\n", "5 \r\nhello\r\n0\r\n\r\n", "-1\r\n", "0x5\r\nhello\r\n", "3\r\nabcd\r\n0\r\n\r\n",
        "\r\n0\r\n\r\n",
    ])
    func `broken chunks never reach the handler`(chunks: String) throws {
        let calls = Atomic(0)
        let server = try Server(configuration()) { _ in
            calls.add(1, ordering: .relaxed)
            return .text(200, "served")
        }
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let answer = try talk(server.port, head + chunks, for: .seconds(2))
        #expect(answer.text.hasPrefix("HTTP/1.1 400"))
        #expect(answer.isClosed)
        #expect(calls.load(ordering: .relaxed) == 0)
    }

    @Test func `a header over the limit is refused`() throws {
        let server = try Server(configuration(Server.Limits(headerBytes: 2000, headerFields: 20))) { _ in
            .text(200, "served")
        }
        func answer(_ headers: String) throws -> String {
            try talk(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\(headers)\r\n", for: .seconds(2)).text
        }
        #expect(try answer("X: \(String(repeating: "x", count: 1900))\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(try answer("X: \(String(repeating: "x", count: 2000))\r\n").hasPrefix("HTTP/1.1 431"))
        #expect(try answer("X: \(String(repeating: "x", count: 300_000))\r\n").hasPrefix("HTTP/1.1 431"))
        #expect(try answer(String(repeating: "X: y\r\n", count: 20)).hasPrefix("HTTP/1.1 431"))
    }

    @Test func `a body at the limit is served, a longer one is answered 413 with the limit`() throws {
        let server = try Server(configuration(Server.Limits(bodyBytes: 256 << 10))) {
            .text(200, "\($0.body.count)")
        }
        var client = try Client()
        let full = try client.exchange(.local(server.port, body: Array(repeating: 1, count: 256 << 10))).get()
        #expect(String(decoding: full.body, as: UTF8.self) == "262144")
        for excess in [1, 100_000, 5 << 20] {
            let over = try client.exchange(
                .local(server.port, body: Array(repeating: 1, count: (256 << 10) + excess))
            ).get()
            #expect(over.status == 413)
            #expect(String(decoding: over.body, as: UTF8.self).contains(#""max_request_size_kb":256"#))
        }
    }

    @Test func `a declared length over the limit is refused before the body is sent`() throws {
        let server = try Server(configuration()) { _ in .text(200, "served") }
        let answer = try talk(
            server.port,
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999999\r\n\r\n",
            for: .seconds(2)
        )
        #expect(answer.text.hasPrefix("HTTP/1.1 413"))
        #expect(answer.isClosed)
    }

    @Test func `an unwanted body in chunks is answered 413 at its end`() throws {
        let server = try Server(configuration(Server.Limits(bodyBytes: 10))) { _ in .text(200, "served") }
        let text = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let answer = try talk(server.port, text + "b\r\n01234567890\r\n0\r\n\r\n")
        #expect(answer.text.hasPrefix("HTTP/1.1 413"))
    }

    @Test func `chunks without end are cut off`() throws {
        let server = try Server(configuration(Server.Limits(bodyBytes: 1000))) { _ in .text(200, "served") }
        let connection = try RawConnection(port: server.port)
        connection.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
        var sent = 0
        while sent < 200, connection.send(chunk) { sent += 1 }
        #expect(sent < 200)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: h\r\nX: ", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n", "",
        "GET /",
    ])
    func `a client that trickles is closed at the total deadline`(start: String) throws {
        let limits = Server.Limits(headerTime: .milliseconds(400), bodyTime: .milliseconds(400))
        let server = try Server(configuration(limits)) { _ in .text(200, "served") }
        let connection = try RawConnection(port: server.port)
        let began = ContinuousClock.now
        connection.send(start)
        var isClosed = false
        while !isClosed, ContinuousClock.now - began < .seconds(20) {
            connection.send("x")
            isClosed = connection.receive(for: .milliseconds(20)).isClosed
        }
        #expect(isClosed)
        #expect(ContinuousClock.now - began >= .milliseconds(350))
        try eventually("the connection is gone") { server.connections == 0 }
    }

    @Test func `a client that does not read its answer is closed`() throws {
        let limits = Server.Limits(answerTime: .milliseconds(300))
        let server = try Server(configuration(limits)) { _ in
            ServerResponse(status: 200, body: Array(repeating: 1, count: 32 << 20))
        }
        let connection = try RawConnection(port: server.port)
        connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        try eventually("the connection is there") { server.connections == 1 }
        try eventually("the connection is gone") { server.connections == 0 }
        _ = connection.receive(for: .milliseconds(50))
    }

    @Test func `an idle connection is closed`() throws {
        let server = try Server(configuration(Server.Limits(idleTime: .milliseconds(200)))) { _ in
            .text(200, "served")
        }
        let answer = try talk(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", for: .seconds(5))
        #expect(answer.text.hasSuffix("served"))
        #expect(answer.isClosed)
    }

    @Test func `2,000 tricklers do not keep others from being served`() throws {
        let limits = Server.Limits(headerTime: .seconds(3), connections: 3000)
        let server = try Server(configuration(limits)) { _ in .text(200, "served") }
        var tricklers: [RawConnection] = []
        for _ in 1...2000 { tricklers.append(try RawConnection(port: server.port)) }
        for trickler in tricklers { trickler.send("x") }
        var client = try Client()
        for _ in 1...50 {
            let response = try client.exchange(.local(server.port)).get()
            #expect(response.timing.total < .seconds(2))
        }
        try eventually("the tricklers are gone") {
            for trickler in tricklers { trickler.send("x") }
            return server.connections <= 1
        }
    }

    @Test func `connections over the limit wait their turn`() throws {
        let server = try Server(configuration(Server.Limits(idleTime: .milliseconds(300), connections: 2))) {
            _ in .text(200, "served")
        }
        let first = try RawConnection(port: server.port)
        let second = try RawConnection(port: server.port)
        for connection in [first, second] { connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
        try eventually("both are there") { server.connections == 2 }
        let answer = try talk(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", for: .seconds(5))
        #expect(answer.text.hasSuffix("served"))
    }

    @Test func `one address has its own limit`() throws {
        let server = try Server(configuration(Server.Limits(connectionsPerAddress: 2))) { _ in
            .text(200, "served")
        }
        let first = try RawConnection(port: server.port)
        let second = try RawConnection(port: server.port)
        try eventually("both are there") { server.connections == 2 }
        let answer = try talk(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", for: .seconds(5))
        #expect(answer.text.isEmpty)
        #expect(answer.isClosed)
        #expect(first.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
        #expect(first.receive(for: .milliseconds(300)).text.hasSuffix("served"))
        _ = second.send("")
    }
}

struct ServerTLSTests {
    @Test func `changed certificate files are used for new connections, half-written ones are not`() throws {
        let authority = try TestAuthority()
        let folder = try TemporaryFolder(prefix: "posthorn-files")
        let paths = Server.TLSPaths(
            certificate: "\(folder.path)/c.pem",
            key: "\(folder.path)/k.pem",
            clientAuthorities: "\(folder.path)/ca.pem",
            lookEvery: .milliseconds(20)
        )
        let other = try TestAuthority()
        func put(_ pair: TestAuthority.Pair, _ clients: TestAuthority) throws {
            for (from, to) in [
                (pair.key, paths.key), (pair.certificate, paths.certificate),
                (clients.path, "\(folder.path)/ca.pem"),
            ] {
                try Files.write(String(decoding: try #require(Files.read(from)), as: UTF8.self), to: to)
            }
        }
        try put(authority.issue("server", for: .server), authority)
        let server = try Server(
            Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: 0), tls: paths)
        ) { .text(200, $0.peer.certificate?.subject ?? "") }
        let client = try authority.issue("client", for: .client)
        let otherClient = try other.issue("other", for: .client)
        func status(trusting: TestAuthority, showing pair: TestAuthority.Pair) throws -> Int? {
            let identity = try TLSIdentity(
                authorities: Files.read(trusting.path),
                certificates: Files.read(pair.certificate),
                key: Files.read(pair.key)
            )
            var request = ClientRequestAlias.local(server.port)
            request.url = "https://localhost:\(server.port)/"
            request.destination.identity = identity
            var client = try Client()
            return try client.exchange(request).success?.status
        }
        #expect(try status(trusting: authority, showing: client) == 200)
        #expect(try status(trusting: authority, showing: otherClient) == 401)

        try put(other.issue("server", for: .server), other)
        try eventually("the new certificate and authorities are used") {
            try status(trusting: other, showing: otherClient) == 200
        }
        #expect(try status(trusting: other, showing: client) == 401)
        #expect(server.tlsFault == nil)

        try Files.write("-----BEGIN CERTIFICATE-----\nMIIB", to: paths.certificate)
        try eventually("the fault is told") { server.tlsFault != nil }
        #expect(try status(trusting: other, showing: otherClient) == 200)
    }

    @Test func `a server does not start with certificates that cannot be used`() throws {
        let authority = try TestAuthority()
        let one = try authority.issue("one", for: .server)
        let two = try authority.issue("two", for: .server)
        func start(_ paths: Server.TLSPaths) throws {
            _ = try Server(
                Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: 0), tls: paths)
            ) { _ in .text(200, "") }
        }
        #expect(throws: ServerError.self) {
            try start(Server.TLSPaths(certificate: one.certificate, key: two.key))
        }
        #expect(throws: ServerError.tls(.unreadable(path: "/nowhere"))) {
            try start(Server.TLSPaths(certificate: one.certificate, key: "/nowhere"))
        }
        #expect(throws: ServerError.self) {
            try start(Server.TLSPaths(certificate: one.certificate, key: one.key, clientAuthorities: one.key))
        }
    }

    @Test func `a trickling handshake is closed at the deadline`() throws {
        let authority = try TestAuthority()
        let pair = try authority.issue("server", for: .server)
        let server = try Server(
            Server.Configuration(
                listen: ListenAddress(host: "127.0.0.1", port: 0),
                limits: Server.Limits(headerTime: .milliseconds(300)),
                tls: Server.TLSPaths(certificate: pair.certificate, key: pair.key)
            )
        ) { _ in .text(200, "") }
        let connection = try RawConnection(port: server.port)
        connection.send("\u{16}\u{3}\u{1}")
        #expect(connection.receive(for: .seconds(10)).isClosed)
    }
}
