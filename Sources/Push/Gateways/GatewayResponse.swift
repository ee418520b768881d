/// What came back for a request to a gateway, as whoever speaks HTTP hands it over.
package struct GatewayResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The header `Content-Type`.
    package var contentType: String?
    /// The header `Retry-After`.
    package var retryAfter: String?
    package var body: [UInt8]

    package init(status: Int, contentType: String? = nil, retryAfter: String? = nil, body: [UInt8] = []) {
        self.status = status
        self.contentType = contentType
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// What a gateway's response says about the records of the request.
///
/// | status | |
/// |---|---|
/// | 200 with a readable body | results item by item, or the keys it rejects |
/// | any other 2xx, 200 with a body that cannot be read | transient, `unreadable_answer`: the records may have been sent |
/// | 400, 413, 422 | refused as a whole: something in it, or its size |
/// | 401, 403; 400 in which a proxy asks for a certificate | credential fault |
/// | 408, 425, 429, 5xx, and what is no status | transient |
/// | every other | configuration fault: wrong base path, a proxy, a redirect |
///
/// A status that no interface here documents is laid at the destination's door, not at the record's: a record that
/// waits can still be sent.
package enum GatewayAnswer: Hashable, Sendable {
    /// One result per item that the gateway cares to mention, in its order; match by id. `unreadable` counts results
    /// without an id or of the wrong shape.
    case results([ItemResult], unreadable: Int)
    /// The single message was taken, except for these keys.
    case taken(rejected: RejectedKeys)
    /// Refused as a whole: bisect, or if there was one record, it is at fault.
    case refused(Refusal)
    /// It may go well later, not before `after`.
    case transient(TransientCause, after: Timestamp?)
    /// Only a person can mend it.
    case fault(DestinationFault)

    /// Reads a response.
    ///
    /// - Parameters:
    ///   - response: status, headers and body.
    ///   - format: what was sent.
    ///   - now: when it came; a `Retry-After` in seconds counts from here.
    package init(_ response: GatewayResponse, to format: NotificationFormat, now: Timestamp) {
        let after = response.retryAfter.flatMap { RetryAfter.read($0, now: now) }
        switch response.status {
        case 200: self = Self.success(response.body, format) ?? .transient(.unreadableAnswer, after: after)
        case 201...299: self = .transient(.unreadableAnswer, after: after)
        case 400 where Self.asksForCertificate(response): self = .fault(.credential)
        case 400, 413, 422: self = .refused(Refusal(status: response.status, body: response.body))
        case 401, 403: self = .fault(.credential)
        case 408: self = .transient(.timeout, after: after)
        case 429: self = .transient(.throttled, after: after)
        case 425, 500...599: self = .transient(.serverError, after: after)
        case 300...499: self = .fault(.configuration)
        default: self = .transient(.unreadableAnswer, after: after)
        }
    }

    private static func success(_ body: [UInt8], _ format: NotificationFormat) -> GatewayAnswer? {
        if format.isBatched {
            return ItemResult.readAll(body).map { .results($0.results, unreadable: $0.unreadable) }
        }
        return RejectedKeys(answer: body).map { .taken(rejected: $0) }
    }

    /// nginx answers a missing or bad client certificate with a 400 in HTML, which must not condemn the messages.
    ///
    /// Source: nginx `ngx_http_special_response.c`, codes 495 and 496.
    private static func asksForCertificate(_ response: GatewayResponse) -> Bool {
        guard response.contentType?.lowercased().hasPrefix("text/html") == true else { return false }
        return String(decoding: response.body.prefix(4096), as: UTF8.self).contains("SSL certificate")
    }
}
