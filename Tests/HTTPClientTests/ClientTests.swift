import Glibc
import HTTPClient
import HTTPServer
import Support
import Testing

struct ClientTests {
    @Test(arguments: [Request.Method.get, .post, .put, .delete])
    func `a request gets its answer`(method: ClientRequest.Method) throws {
        let server = try echoServer()
        var client = try Client()
        let body = method == .post || method == .put ? "some bytes" : ""
        let response = try client.exchange(.local(server.port, method: method, body: body)).get()
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == body)
        #expect(response.header("retry-after") == "7")
        #expect(response.header("x-method") == nil)
        #expect(response.header("date") != nil)
        #expect(response.version == .http1)
        #expect(response.timing.total > .zero)
        #expect(client.inFlight == 0)
    }

    @Test func `a body of several megabytes goes and comes back whole`() throws {
        let configuration = Server.Configuration(
            listen: ListenAddress(host: "127.0.0.1", port: 0),
            limits: Server.Limits(bodyBytes: 8 << 20)
        )
        let server = try Server(configuration) { ServerResponse(status: 200, body: $0.body) }
        var client = try Client()
        var request = ClientRequest.local(
            server.port,
            limits: .init(total: .seconds(30), responseBody: 8 << 20)
        )
        request.body = (0..<(5 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let response = try client.exchange(request).get()
        #expect(response.body == request.body)
    }

    @Test func `many requests share few connections and each gets its own answer`() throws {
        let server = try echoServer()
        var client = try Client(Client.Configuration(connectionsPerHost: 3))
        for id in 1...200 { try client.start(.local(server.port, body: "\(id)"), id: UInt64(id)) }
        #expect(client.inFlight == 200)
        let completions = try client.complete(200)
        for completion in completions {
            #expect(try String(decoding: completion.result.get().body, as: UTF8.self) == "\(completion.id)")
        }
        #expect(Set(completions.map(\.id)).count == 200)
        #expect(completions.count { $0.result.success?.timing.reusedConnection == true } >= 197)
        #expect(server.connections <= 3)
    }

    @Test func `a redirect is an answer like any other`() throws {
        let server = try Server(
            Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        ) { request in
            request.path == "/secret"
                ? .text(200, "followed")
                : ServerResponse(status: 302, headers: [HTTPServer.HeaderField("location", "/secret")])
        }
        var client = try Client()
        #expect(try client.exchange(.local(server.port, "/start")).get().status == 302)
    }

    @Test(arguments: [true, false])
    func `a server that hangs is given up at the deadline`(accepts: Bool) throws {
        let listener = try RawListener()
        var client = try Client()
        let began = ContinuousClock.now
        try client.start(.local(listener.port, limits: .init(total: .milliseconds(300))), id: 1)
        try client.wait(upTo: .milliseconds(50))
        if accepts { _ = try listener.accept() }
        let completions = try client.complete(1)
        #expect(completions.first?.result.failure == (accepts ? .aborted : .timeout))
        #expect(ContinuousClock.now - began < .seconds(10))
    }

    @Test func `a server that trickles its answer is given up at the deadline`() throws {
        let listener = try RawListener()
        var client = try Client()
        try client.start(.local(listener.port, limits: .init(total: .milliseconds(500))), id: 1)
        try client.wait(upTo: .milliseconds(50))
        let connection = try listener.accept()
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        var completions: [Completion] = []
        while completions.isEmpty {
            connection.send("x")
            try client.wait(upTo: .milliseconds(10))
            completions = client.takeCompleted()
        }
        #expect(completions.first?.result.failure == .timeout)
    }

    @Test func `a request that waits for a connection is given up at its deadline`() throws {
        let listener = try RawListener()
        var client = try Client(Client.Configuration(connectionsPerHost: 1))
        try client.start(.local(listener.port, limits: .init(total: .seconds(30))), id: 1)
        try client.wait(upTo: .milliseconds(50))
        try client.start(.local(listener.port, limits: .init(total: .milliseconds(200))), id: 2)
        let completion = try #require(try client.complete(1).first)
        #expect(completion.id == 2)
        #expect(completion.result.failure == .timeout)
        #expect(client.inFlight == 1)
    }

    @Test func `an answer over the limit is cut off`() throws {
        let server = try Server(
            Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        ) { request in
            request.path == "/header"
                ? ServerResponse(
                    status: 200,
                    headers: [HTTPServer.HeaderField("x", String(repeating: "x", count: 5000))]
                )
                : ServerResponse(status: 200, body: Array(repeating: 0, count: 10_001))
        }
        var client = try Client()
        let limits = ClientRequest.Limits(total: .seconds(30), responseBody: 10_000, responseHeaders: 4000)
        #expect(try client.exchange(.local(server.port, "/body", limits: limits)).failure == .tooLarge)
        #expect(try client.exchange(.local(server.port, "/header", limits: limits)).failure == .tooLarge)
        let enough = ClientRequest.Limits(total: .seconds(30), responseBody: 10_001, responseHeaders: 6000)
        #expect(try client.exchange(.local(server.port, "/body", limits: enough)).get().body.count == 10_001)
    }

    @Test func `an answer without a length is cut off at the limit too`() throws {
        let listener = try RawListener()
        var client = try Client()
        try client.start(.local(listener.port, limits: .init(total: .seconds(30), responseBody: 1000)), id: 1)
        try client.wait(upTo: .milliseconds(50))
        let connection = try listener.accept()
        connection.send("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 2000))
        #expect(try client.complete(1).first?.result.failure == .tooLarge)
    }

    @Test(arguments: [
        ("", Failure.aborted), ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", .aborted),
        ("SSH-2.0-OpenSSH_9.2\r\n", .malformed(code: 1)),
    ])
    func `an answer that breaks off is a failure`(answer: String, expected: Failure) throws {
        let listener = try RawListener()
        var client = try Client()
        try client.start(.local(listener.port), id: 1)
        try client.wait(upTo: .milliseconds(50))
        do {
            let connection = try listener.accept()
            _ = connection.receive(for: .milliseconds(50))
            connection.send(answer)
        }
        #expect(try client.complete(1).first?.result.failure == expected)
    }

    @Test func `a cancelled request has no completion and the others go on`() throws {
        let listener = try RawListener()
        let server = try echoServer()
        var client = try Client()
        try client.start(.local(listener.port), id: 1)
        try client.start(.local(server.port, body: "on"), id: 2)
        try client.wait(upTo: .milliseconds(20))
        client.cancel(1)
        client.cancel(99)
        let ids =
            client.takeCompleted().map(\.id) + (client.inFlight > 0 ? try client.complete(1).map(\.id) : [])
        #expect(ids == [2])
        #expect(client.inFlight == 0)
        try client.start(.local(server.port, body: "again"), id: 1)
        #expect(try client.complete(1).first?.result.get().status == 200)
    }

    @Test func `waiting ends when the other descriptor is readable`() throws {
        var ends: [CInt] = [0, 0]
        let code = unsafe pipe(&ends)
        try #require(code == 0)
        defer { for end in ends { close(end) } }
        var client = try Client()
        #expect(try !client.wait(upTo: .milliseconds(20), also: ends[0]))
        _ = unsafe write(ends[1], "x", 1)
        let began = ContinuousClock.now
        #expect(try client.wait(upTo: .seconds(20), also: ends[0]))
        #expect(ContinuousClock.now - began < .seconds(10))
    }

    @Test func `an id in flight is not taken twice`() throws {
        let listener = try RawListener()
        var client = try Client()
        try client.start(.local(listener.port), id: 7)
        #expect(throws: ClientError.duplicateID(7)) { try client.start(.local(listener.port), id: 7) }
    }

    @Test(arguments: [
        "http://example.org/", "ftp://example.org/", "file:///etc/passwd", "gopher://x/", "", "example.org",
        "https://exa mple.org/", "https://example.org/\r\nX: y",
    ])
    func `only well-formed https is started`(url: String) throws {
        var client = try Client()
        #expect(throws: ClientError.invalidURL) { try client.start(ClientRequest(url: url), id: 1) }
    }

    @Test(arguments: [("x", "a\r\nEvil: 1"), ("x y", "a"), ("", "a"), ("x:", "a"), ("x", "a\0b")])
    func `a header that would become another line is not sent`(name: String, value: String) throws {
        var client = try Client()
        var request = ClientRequest(url: "https://example.org/")
        request.headers = [HTTPClient.HeaderField(name, value)]
        #expect(throws: ClientError.invalidHeader) { try client.start(request, id: 1) }
    }

    @Test func `nobody listening is a failure to connect`() throws {
        let port = try RawListener().port
        var client = try Client()
        #expect(try client.exchange(.local(port)).failure == .connect)
    }

    @Test(arguments: [
        "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "127.1",
    ])
    func `a way into this machine is refused before a byte is sent`(host: String) throws {
        let listener = try RawListener()
        var client = try Client()
        var request = ClientRequest.local(listener.port)
        request.url = "http://\(host):\(listener.port)/"
        request.destination.allowsPrivateAddresses = false
        #expect(try client.exchange(request).failure == .refusedAddress)
        let wasReached = listener.hasClient
        #expect(!wasReached)
    }

    @Test func `a kept connection does not carry a request that may not go there`() throws {
        let server = try echoServer()
        var client = try Client()
        var request = ClientRequest.local(server.port)
        #expect(try client.exchange(request).get().status == 200)
        request.destination.allowsPrivateAddresses = false
        #expect(try client.exchange(request).failure == .refusedAddress)
    }

    @Test func `a proxy from the environment is not used`() throws {
        let trap = try RawListener()
        let server = try echoServer()
        unsafe setenv("http_proxy", "http://127.0.0.1:\(trap.port)", 1)
        unsafe setenv("all_proxy", "http://127.0.0.1:\(trap.port)", 1)
        defer {
            unsafe unsetenv("http_proxy")
            unsafe unsetenv("all_proxy")
        }
        var client = try Client()
        #expect(try client.exchange(.local(server.port)).get().status == 200)
        let wasReached = trap.hasClient
        #expect(!wasReached)
    }

    @Test func `a kept connection that died is replaced and the body sent again`() throws {
        let listener = try RawListener()
        var client = try Client()
        for _ in 1...2 {
            try client.start(.local(listener.port, body: "the body"), id: 1)
            try client.wait(upTo: .milliseconds(50))
            let connection = try listener.accept()
            #expect(connection.receive(for: .milliseconds(100)).text.hasSuffix("the body"))
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            #expect(try client.complete(1).first?.result.get().status == 200)
        }
    }
}
