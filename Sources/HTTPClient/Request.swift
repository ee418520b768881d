/// One request, complete with how it may be sent.
package struct Request: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    package var method: Method
    /// Absolute, `https://host[:port]/path`; `http://` only where the destination ``Destination/allowsPlainText``.
    package var url: String
    package var headers: [HeaderField]
    /// Sent as it is, with its length; empty for methods without one.
    package var body: [UInt8]
    package var destination: Destination
    package var limits: Limits

    package init(
        method: Method = .post,
        url: String,
        headers: [HeaderField] = [],
        body: [UInt8] = [],
        destination: Destination = Destination(),
        limits: Limits = Limits()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.destination = destination
        self.limits = limits
    }

    /// How long and how much one request may take.
    package struct Limits: Sendable {
        /// Resolving, connecting and the TLS handshake together; default 5 s.
        package var connect: Duration
        /// From ``Client/start(_:id:)`` to the last byte of the answer, waiting for a free connection included; default 20 s.
        package var total: Duration
        /// Bytes of the answer's body, default 1 MiB; a longer answer is ``Failure/tooLarge``.
        package var responseBody: Int
        /// Bytes of the answer's header lines, all together; default 16 KiB.
        package var responseHeaders: Int

        package init(
            connect: Duration = .seconds(5),
            total: Duration = .seconds(20),
            responseBody: Int = 1 << 20,
            responseHeaders: Int = 16 << 10
        ) {
            self.connect = connect
            self.total = total
            self.responseBody = responseBody
            self.responseHeaders = responseHeaders
        }
    }
}

/// What the operator says about the server that a request goes to.
///
/// A value that differs from the one before leads to a new connection: one that was made under other certificates is not reused.
package struct Destination: Sendable {
    /// Loopback, private, unique-local and carrier addresses may be connected to; see ``AddressKind/isPermitted(allowsPrivate:)``.
    package var allowsPrivateAddresses: Bool
    /// `http://` may be used.
    package var allowsPlainText: Bool
    /// The certificates to show and to trust; nil: none to show, the system's authorities.
    package var identity: TLSIdentity?

    package init(
        allowsPrivateAddresses: Bool = false,
        allowsPlainText: Bool = false,
        identity: TLSIdentity? = nil
    ) {
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.allowsPlainText = allowsPlainText
        self.identity = identity
    }
}

/// A header line, with the name as written.
package struct HeaderField: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Neither part can end its line early and start another.
    var isWellFormed: Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}
