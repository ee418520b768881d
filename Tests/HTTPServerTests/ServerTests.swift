import HTTPClient
import HTTPServer
import Support
import Synchronization
import Testing

typealias ServerRequest = HTTPServer.Request
typealias ServerResponse = HTTPServer.Response

/// Listens on a free port of loopback.
func configuration(_ limits: Server.Limits = Server.Limits(), threads: Int = 1) -> Server.Configuration {
    Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: 0), threads: threads, limits: limits)
}

/// Sends raw text and returns what comes back.
func talk(
    _ port: UInt16,
    _ text: String,
    for limit: Duration = .milliseconds(300)
) throws -> (text: String, isClosed: Bool) {
    let connection = try RawConnection(port: port)
    connection.send(text)
    return connection.receive(for: limit)
}

struct ServerTests {
    @Test func `the handler sees the request as it was sent`() throws {
        let server = try Server(configuration()) { request in
            let fields = [
                request.method, request.path, request.query ?? "-", request.header("x-one") ?? "-",
                String(decoding: request.body, as: UTF8.self), request.peer.address,
                request.peer.certificate == nil ? "no certificate" : "certificate",
            ]
            return .text(200, fields.joined(separator: "|"))
        }
        let answer = try talk(
            server.port,
            "POST /a%2Fb/c?x=%20y&z HTTP/1.1\r\nHost: h\r\nX-One:  two \t\r\nContent-Length: 4\r\n\r\nbody"
        )
        #expect(answer.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.text.hasSuffix("\r\n\r\nPOST|/a%2Fb/c|x=%20y&z|two|body|127.0.0.1|no certificate"))
        #expect(!answer.isClosed)
    }

    @Test func `a connection carries one request after the other`() throws {
        let server = try Server(configuration()) { .text(200, $0.path) }
        let answer = try talk(
            server.port,
            "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n"
        )
        #expect(answer.text.split(separator: "HTTP/1.1 200").count == 2)
        #expect(answer.text.contains("\r\n\r\n/1") && answer.text.hasSuffix("\r\n\r\n/2"))
    }

    @Test func `a chunked body is put together`() throws {
        let server = try Server(configuration()) { ServerResponse(status: 200, body: $0.body) }
        let answer = try talk(
            server.port,
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
        )
        #expect(answer.text.hasSuffix("\r\n\r\nabcde"))
    }

    @Test func `a handler that throws is answered 500 and the next request is served`() throws {
        let server = try Server(configuration()) { request in
            if request.path == "/bad" { throw ServerError.library(code: 1) }
            return .text(200, "fine")
        }
        #expect(try talk(server.port, "GET /bad HTTP/1.1\r\nHost: h\r\n\r\n").text.hasPrefix("HTTP/1.1 500"))
        #expect(try talk(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").text.hasSuffix("fine"))
    }

    @Test(arguments: [
        ServerResponse(status: 99), ServerResponse(status: 1000),
        ServerResponse(status: 200, headers: [HTTPServer.HeaderField("X", "a\r\nEvil: 1")]),
    ])
    func `a response that cannot be written is answered 500`(response: ServerResponse) throws {
        let server = try Server(configuration()) { _ in response }
        let answer = try talk(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").text
        #expect(answer.hasPrefix("HTTP/1.1 500"))
        #expect(!answer.contains("Evil"))
    }

    @Test func `answers may come later, from elsewhere and in any order`() throws {
        let kept = Mutex<[Responder]>([])
        let server = try Server(
            configuration(),
            deferring: { _, responder in kept.withLock { $0.append(responder) } }
        )
        var client = try Client()
        for id in 1...20 { try client.start(.local(server.port, "/\(id)"), id: UInt64(id)) }
        while kept.withLock(\.count) < 8 { try client.wait(upTo: .milliseconds(5)) }
        var ended = 0
        while ended < 20 {
            kept.withLock { responders in
                for responder in responders.reversed() { responder.answer(.text(200, "later")) }
                responders = []
            }
            try client.wait(upTo: .milliseconds(5))
            for completion in client.takeCompleted() {
                ended += 1
                #expect(try completion.result.get().body == Array("later".utf8))
            }
        }
    }

    @Test func `a delayed answer holds no thread`() throws {
        let server = try Server(
            configuration(),
            deferring: { _, responder in responder.answer(.text(200, "slow"), after: .milliseconds(400)) }
        )
        var client = try Client(Client.Configuration(connectionsPerHost: 50))
        let began = ContinuousClock.now
        for id in 1...50 { try client.start(.local(server.port), id: UInt64(id)) }
        let completions = try client.complete(50)
        #expect(completions.allSatisfy { $0.result.success?.status == 200 })
        #expect(
            completions.allSatisfy {
                $0.result.success.map { $0.timing.total >= .milliseconds(400) } ?? false
            }
        )
        #expect(ContinuousClock.now - began < .seconds(10))
    }

    @Test func `a forgotten request is answered 500`() throws {
        let server = try Server(configuration(), deferring: { _, _ in })
        var client = try Client()
        #expect(try client.exchange(.local(server.port)).get().status == 500)
    }

    @Test func `a connection can be ended without an answer, at once or later`() throws {
        let server = try Server(
            configuration(),
            deferring: { request, responder in
                if request.path == "/later" {
                    responder.schedule(after: .milliseconds(20)) { $0.close() }
                } else {
                    responder.close()
                }
            }
        )
        var client = try Client()
        #expect(try client.exchange(.local(server.port)).failure == .aborted)
        #expect(try client.exchange(.local(server.port, "/later")).failure == .aborted)
    }

    @Test(arguments: [1, 3])
    func `all requests in flight are answered when the server drains`(threads: Int) throws {
        let kept = Mutex<[Responder]>([])
        var server = try Server(
            configuration(threads: threads),
            deferring: { _, responder in
                responder.answer(.text(200, "done"), after: .milliseconds(300))
                kept.withLock { $0.append(responder) }
            }
        )
        let idle = try RawConnection(port: server.port)
        var client = try Client(Client.Configuration(connectionsPerHost: 500, connections: 500))
        for id in 1...500 { try client.start(.local(server.port), id: UInt64(id)) }
        var completions: [Completion] = []
        let deadline = ContinuousClock.now + .seconds(30)
        while kept.withLock(\.count) < 500, ContinuousClock.now < deadline {
            try client.wait(upTo: .milliseconds(5))
            completions += client.takeCompleted()
        }
        let isDone = server.drain(within: .seconds(30))
        #expect(isDone)
        #expect(idle.receive(for: .seconds(1)).isClosed)
        while client.inFlight > 0, ContinuousClock.now < deadline {
            try client.wait(upTo: .milliseconds(50))
            completions += client.takeCompleted()
        }
        completions += client.takeCompleted()
        #expect(completions.count { $0.result.success?.status == 200 } == 500)
        #expect(try client.exchange(.local(server.port)).failure == .connect)
    }

    @Test func `what is not done in time is broken off`() throws {
        let kept = Mutex<[Responder]>([])
        var server = try Server(
            configuration(),
            deferring: { _, responder in kept.withLock { $0.append(responder) } }
        )
        let connection = try RawConnection(port: server.port)
        connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        try eventually("the handler has the request") { kept.withLock(\.count) == 1 }
        let began = ContinuousClock.now
        let isDone = server.drain(within: .milliseconds(200))
        #expect(!isDone)
        #expect(ContinuousClock.now - began < .seconds(10))
        #expect(connection.receive(for: .seconds(1)).isClosed)
        kept.withLock { $0.first?.answer(.text(200, "too late")) }
    }

    @Test func `a taken port is an error that says so`() throws {
        let server = try Server(configuration()) { _ in .text(200, "") }
        let address = ListenAddress(host: "127.0.0.1", port: server.port)
        #expect {
            _ = try Server(Server.Configuration(listen: address)) { _ in .text(200, "") }
        } throws: { error in
            guard case .listen(address, _) = error as? ServerError else { return false }
            return true
        }
    }

    @Test(arguments: [
        ("127.0.0.1:80", ListenAddress(host: "127.0.0.1", port: 80)),
        ("[::1]:0", ListenAddress(host: "::1", port: 0)),
        (":8080", ListenAddress(host: "", port: 8080)),
        ("name:65535", ListenAddress(host: "name", port: 65535)),
        ("::1:80", nil), ("127.0.0.1", nil), ("x:65536", nil), ("x:", nil), ("x:-1", nil),
    ])
    func `a listen address is host and port`(text: String, expected: ListenAddress?) {
        #expect(ListenAddress(text) == expected)
    }
}

extension ClientRequestAlias {
    /// To a server of the test's own: loopback and plain HTTP are allowed.
    static func local(_ port: UInt16, _ path: String = "/", body: [UInt8] = []) -> ClientRequestAlias {
        ClientRequestAlias(
            method: body.isEmpty ? .get : .post,
            url: "http://127.0.0.1:\(port)\(path)",
            body: body,
            destination: Destination(allowsPrivateAddresses: true, allowsPlainText: true),
            limits: .init(total: .seconds(30))
        )
    }
}

typealias ClientRequestAlias = HTTPClient.Request

extension Client {
    mutating func exchange(_ request: ClientRequestAlias) throws -> Result<HTTPClient.Response, Failure> {
        try start(request, id: 1)
        return try #require(try complete(1).first).result
    }

    mutating func complete(_ count: Int) throws -> [Completion] {
        var completions: [Completion] = []
        let deadline = ContinuousClock.now + .seconds(60)
        while completions.count < count, ContinuousClock.now < deadline {
            try wait(upTo: .milliseconds(200))
            completions += takeCompleted()
        }
        try #require(completions.count == count)
        return completions
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }

    var success: Success? { try? get() }
}
