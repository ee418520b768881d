/// Why there is no complete answer.
///
/// A case says who has to act: the network and the peer (wait, try again), an operator (certificates, addresses), or we.
/// It holds no address, no header and no byte of either body.
package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Every address that the name has, or the one of the connection to be reused, is not permitted; see ``AddressKind``.
    case refusedAddress
    /// The name has no address, or the resolver did not answer.
    case resolve
    /// Nobody accepts the connection.
    case connect
    case tlsHandshake(TLSFault)
    /// The request's deadline passed; it may have been carried out.
    case timeout
    /// The answer's header or body is over the request's limit.
    case tooLarge
    /// What came back is not HTTP as we know it. `code` is libcurl's.
    case malformed(code: Int)
    /// The connection ended before the answer was complete; the request may have been carried out.
    case aborted
    /// Our own certificate or key cannot be used.
    case unusableIdentity
    /// A fault of this side or one that has no class. `code` is libcurl's.
    case other(code: Int)

    package enum TLSFault: Sendable, Equatable {
        /// The server's certificate is not from an authority that we trust.
        case unknownAuthority
        /// The server's certificate is no longer valid, or not yet.
        case expired
        /// The server's certificate is for another name.
        case hostname
        /// The server does not want us: no client certificate, or not one that it trusts.
        case clientCertificateRefused
        /// No common protocol version, a broken handshake, …
        case other
    }

    /// Whether the same request may succeed later without anybody changing anything.
    package var isRetriable: Bool {
        switch self {
        case .resolve, .connect, .timeout, .malformed, .aborted: true
        case .refusedAddress, .tlsHandshake, .tooLarge, .unusableIdentity, .other: false
        }
    }

    package var description: String {
        switch self {
        case .refusedAddress: "address not permitted"
        case .resolve: "name not resolved"
        case .connect: "connection refused or unreachable"
        case .tlsHandshake(.unknownAuthority): "TLS: server certificate from an unknown authority"
        case .tlsHandshake(.expired): "TLS: server certificate expired or not yet valid"
        case .tlsHandshake(.hostname): "TLS: server certificate for another name"
        case .tlsHandshake(.clientCertificateRefused): "TLS: server refused the client certificate"
        case .tlsHandshake(.other): "TLS: handshake failed"
        case .timeout: "deadline passed"
        case .tooLarge: "answer over the size limit"
        case .malformed(let code): "answer is not valid HTTP (\(code))"
        case .aborted: "connection ended before the answer was complete"
        case .unusableIdentity: "client certificate or key unusable"
        case .other(let code): "transfer failed (\(code))"
        }
    }
}
