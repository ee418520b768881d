/// A request, complete with its body.
package struct Request: Sendable {
    package var method: String
    /// The path as it was sent, percent-encoding included, without the query.
    package var path: String
    /// What follows the first `?`, as it was sent; nil when there is none.
    package var query: String?
    /// In order of arrival; folded lines, doubtful names and doubtful framing never get here, see ``RequestHead/fault``.
    package var headers: [HeaderField]
    package var body: [UInt8]
    package var peer: Peer

    /// The first value of a header; names are compared without regard to case.
    package func header(_ name: String) -> String? {
        headers.first { $0.isNamed(name) }?.value
    }
}

/// Who sent a request.
package struct Peer: Sendable, Equatable {
    /// The numeric IP address, without port.
    package var address: String
    /// The certificate that the client showed and that is in order; nil without TLS, without client authorities, or when none was shown.
    package var certificate: ClientCertificate?
}

/// A client certificate whose chain and use have been checked.
package struct ClientCertificate: Sendable, Equatable {
    /// As in RFC 4514, such as `CN=fachdienst,O=Example`.
    package var subject: String
    /// SHA-256 of the DER form, 32 bytes.
    package var fingerprint: [UInt8]
}

/// An answer.
///
/// Date, length and connection headers are added.
package struct Response: Sendable, Equatable {
    /// From 200 to 599.
    package var status: Int
    package var headers: [HeaderField]
    package var body: [UInt8]
    /// How slowly, and how far, the body is sent; nil, the default: at once and whole.
    package var pace: Pace?

    package init(status: Int, headers: [HeaderField] = [], body: [UInt8] = [], pace: Pace? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.pace = pace
    }

    package static func text(
        _ status: Int,
        _ text: String,
        type: String = "text/plain; charset=utf-8"
    ) -> Response {
        Response(status: status, headers: [HeaderField("content-type", type)], body: Array(text.utf8))
    }

    package static func json(_ status: Int, _ text: String) -> Response {
        Response.text(status, text, type: "application/json")
    }
}

/// A header line.
package struct HeaderField: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether this is the header of that name, in ASCII's sense of upper and lower case.
    package func isNamed(_ other: String) -> Bool {
        let fold = { (byte: UInt8) in byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte }
        return name.utf8.count == other.utf8.count
            && zip(name.utf8, other.utf8).allSatisfy { fold($0) == fold($1) }
    }
}

/// Why a request is answered by the server itself; see ``Server/Configuration/refuse``.
package enum Refusal: Sendable, Equatable {
    /// The head can be read in more than one way (400).
    case malformed
    /// The header lines are over the limit (431).
    case headersTooLarge
    /// The body is over the limit (413), in bytes.
    case bodyTooLarge(limit: Int)
    /// A client certificate is required, and there is none or none in order (401).
    case clientCertificate
    /// The handler threw or forgot to answer (500).
    case handlerFailed
    /// The server is stopping and will not finish this (503).
    case stopping

    /// A short JSON answer with the status of the case.
    package var standardResponse: Response {
        switch self {
        case .malformed: .json(400, #"{"error":"Bad request."}"#)
        case .headersTooLarge: .json(431, #"{"error":"Request header is too large."}"#)
        case .bodyTooLarge(let limit):
            .json(
                413,
                #"{"error":"Request is too large.","details":{"max_request_size_kb":\#(limit / 1024)}}"#
            )
        case .clientCertificate: .json(401, #"{"error":"Missing or invalid mutual TLS (mTLS) certificate."}"#)
        case .handlerFailed: .json(500, #"{"error":"Unexpected failure during processing."}"#)
        case .stopping: .json(503, #"{"error":"Shutting down."}"#)
        }
    }
}
