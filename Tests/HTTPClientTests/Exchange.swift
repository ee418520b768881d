import HTTPClient
import HTTPServer
import Testing

typealias ClientRequest = HTTPClient.Request
typealias ClientResponse = HTTPClient.Response
typealias ServerResponse = HTTPServer.Response

extension Client {
    /// Sends one request and waits for its end.
    mutating func exchange(_ request: ClientRequest) throws -> Result<ClientResponse, Failure> {
        try start(request, id: 1)
        return try #require(try complete(1).first).result
    }

    /// Waits until that many requests have ended.
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

extension ClientRequest {
    /// To a server of the test's own: loopback and plain HTTP are allowed.
    static func local(
        _ port: UInt16,
        _ path: String = "/",
        method: Method = .post,
        body: String = "",
        limits: Limits = Limits(total: .seconds(30))
    ) -> ClientRequest {
        ClientRequest(
            method: method,
            url: "http://127.0.0.1:\(port)\(path)",
            body: Array(body.utf8),
            destination: Destination(allowsPrivateAddresses: true, allowsPlainText: true),
            limits: limits
        )
    }

    /// The same over TLS, to `localhost`.
    static func secure(_ port: UInt16, _ identity: TLSIdentity?, host: String = "localhost") -> ClientRequest
    {
        ClientRequest(
            url: "https://\(host):\(port)/",
            body: Array("hello".utf8),
            destination: Destination(allowsPrivateAddresses: true, identity: identity),
            limits: Limits(total: .seconds(30))
        )
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }

    var success: Success? { try? get() }
}

/// A server that gives back what it got.
func echoServer(_ tls: Server.TLSPaths? = nil) throws -> Server {
    try Server(Server.Configuration(listen: ListenAddress(host: "127.0.0.1", port: 0), tls: tls)) { request in
        ServerResponse(
            status: 200,
            headers: [
                HTTPServer.HeaderField("Retry-After", "7"),
                HTTPServer.HeaderField("X-Method", request.method),
            ],
            body: request.body
        )
    }
}
