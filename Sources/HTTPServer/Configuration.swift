extension Server {
    /// Where a server listens and what it puts up with.
    package struct Configuration: Sendable {
        /// nil: only connections that are handed over come, see ``Server/reception``.
        package var listen: ListenAddress?
        /// Called with the descriptor of each connection that comes, before the server has it; true: the caller has taken it and closes it.
        ///
        /// Runs on the server's timekeeping thread, so it must be quick.
        package var greet: (@Sendable (_ descriptor: Int32) -> Bool)?
        /// Threads that read, write and call the handler; default 1.
        ///
        /// A handler that blocks holds up its thread's connections.
        package var threads: Int
        package var limits: Limits
        /// Certificates; nil: plain HTTP.
        package var tls: TLSPaths?
        /// The answer when the server refuses a request itself.
        package var refuse: @Sendable (Refusal) -> Response

        package init(
            listen: ListenAddress?,
            threads: Int = 1,
            limits: Limits = Limits(),
            tls: TLSPaths? = nil,
            greet: (@Sendable (_ descriptor: Int32) -> Bool)? = nil,
            refuse: @escaping @Sendable (Refusal) -> Response = { $0.standardResponse }
        ) {
            self.listen = listen
            self.greet = greet
            self.threads = threads
            self.limits = limits
            self.tls = tls
            self.refuse = refuse
        }
    }

    /// What one client may use.
    ///
    /// All times are totals: a client that sends a byte now and then does not get more.
    package struct Limits: Sendable {
        /// The request line and header lines together; default 16 KiB.
        package var headerBytes: Int
        /// Default 100.
        package var headerFields: Int
        /// Default 1 MiB.
        package var bodyBytes: Int
        /// From the connection, or from the first line of a later request on it, to the end of the header; default 10 s.
        package var headerTime: Duration
        /// From the end of the header to the end of the body; default 30 s.
        package var bodyTime: Duration
        /// From the handler's answer to the last byte that the client took; default 30 s.
        package var answerTime: Duration
        /// Between two requests on a connection; default 60 s.
        package var idleTime: Duration
        /// Default 1024.
        package var connections: Int
        /// From one IP address; nil, the default: no limit of its own.
        package var connectionsPerAddress: Int?

        package init(
            headerBytes: Int = 16 << 10,
            headerFields: Int = 100,
            bodyBytes: Int = 1 << 20,
            headerTime: Duration = .seconds(10),
            bodyTime: Duration = .seconds(30),
            answerTime: Duration = .seconds(30),
            idleTime: Duration = .seconds(60),
            connections: Int = 1024,
            connectionsPerAddress: Int? = nil
        ) {
            self.headerBytes = headerBytes
            self.headerFields = headerFields
            self.bodyBytes = bodyBytes
            self.headerTime = headerTime
            self.bodyTime = bodyTime
            self.answerTime = answerTime
            self.idleTime = idleTime
            self.connections = connections
            self.connectionsPerAddress = connectionsPerAddress
        }

        var shortestTime: Duration { min(headerTime, bodyTime, answerTime, idleTime) }
    }

    /// PEM files; they are read again when they change.
    package struct TLSPaths: Sendable, Equatable {
        /// The server's certificate and its chain.
        package var certificate: String
        package var key: String
        /// Authorities of client certificates; nil: clients are not asked for one.
        ///
        /// With it, a client without one in order is answered
        /// ``Refusal/clientCertificate``.
        package var clientAuthorities: String?
        /// Whether the handshake already fails for a client without a certificate in order, so that it is answered nothing; default false.
        package var endsHandshake: Bool
        /// Time between two looks at the files; default 10 s.
        package var lookEvery: Duration

        package init(
            certificate: String,
            key: String,
            clientAuthorities: String? = nil,
            endsHandshake: Bool = false,
            lookEvery: Duration = .seconds(10)
        ) {
            self.endsHandshake = endsHandshake
            self.certificate = certificate
            self.key = key
            self.clientAuthorities = clientAuthorities
            self.lookEvery = lookEvery
        }
    }
}

/// `HOST:PORT`, with IPv6 addresses in brackets.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// A name or numeric address; empty: all interfaces.
    package var host: String
    /// 0: the system chooses; see ``Server/port``.
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// - Returns: nil when the text has no port, a port over 65535, or an IPv6 address without brackets.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self.init(host: String(host), port: port)
    }

    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// Why a server cannot start.
package enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name in the listen address has no address.
    case unknownHost(String)
    /// The address cannot be bound; `code` is an `errno`.
    case listen(ListenAddress, code: Int32)
    /// A certificate file cannot be read or used.
    case tls(TLSFault)
    /// libmicrohttpd or the system gives no server; `code` is an `errno`, 0 when there was none.
    case library(code: Int32)

    package var isRetriable: Bool {
        if case .listen = self { true } else { false }
    }

    package var description: String {
        switch self {
        case .unknownHost(let host): "cannot resolve \(host) to listen there"
        case .listen(let address, let code): "cannot listen on \(address) (errno \(code))"
        case .tls(let fault): fault.description
        case .library(let code): "HTTP server library failed (errno \(code))"
        }
    }
}

/// What is wrong with certificate files.
package enum TLSFault: Error, Sendable, Equatable, CustomStringConvertible {
    case unreadable(path: String)
    /// Not PEM, or the key does not belong to the certificate; `code` is GnuTLS's.
    case unusable(code: Int32)

    package var description: String {
        switch self {
        case .unreadable(let path): "cannot read \(path)"
        case .unusable(let code): "certificate, key or client authorities unusable (GnuTLS \(code))"
        }
    }
}
