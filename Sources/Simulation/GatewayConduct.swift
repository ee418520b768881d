/// What a simulated gateway does with one request.
///
/// Plain data, so that it can come from a script as well as from a test's closure. The default is what the specification says.
package struct GatewayConduct: Sendable, Equatable {
    /// Before anything is answered; the items are recorded at once.
    package var delay: Duration = .zero
    package var action = Action.answer
    /// The header `Retry-After` of the answer, in either form.
    package var retryAfter: String?
    /// Keys that are told dead: their items are `failed`, or `partial` where another device of the item lives.
    package var deadPushkeys: Set<String> = []
    /// Items that are `failed` without a dead key, by id, with the text of `error`.
    package var failures: [String: String] = [:]
    package var order = Order.asSubmitted
    /// Ids that the results do not mention.
    package var omittedIDs: Set<String> = []

    package enum Action: Sendable, Equatable {
        /// Check the request and answer it as the specification says, with the failures above.
        case answer
        /// Answer this instead; nothing is checked.
        case respond(status: Int, body: String, type: String = "application/json")
        /// Answer as the specification says, but only the first bytes of it, as a broken proxy would.
        case truncate(bytes: Int)
        /// Never answer.
        case hang
        /// End the connection without an answer.
        case close
    }

    package enum Order: Sendable, Equatable {
        case asSubmitted
        case reversed
        /// As gematik's own gateway does.
        case sortedByID
    }

    package init() {}

    package static var regular: GatewayConduct { GatewayConduct() }

    /// Answers a status, with the body that the specification has for it.
    package static func status(_ status: Int, retryAfter: String? = nil) -> GatewayConduct {
        var conduct = GatewayConduct()
        conduct.action = .respond(status: status, body: standardBody(status))
        conduct.retryAfter = retryAfter
        return conduct
    }

    package static func delayed(_ delay: Duration) -> GatewayConduct {
        var conduct = GatewayConduct()
        conduct.delay = delay
        return conduct
    }

    package static func rejecting(_ pushkeys: Set<String>) -> GatewayConduct {
        var conduct = GatewayConduct()
        conduct.deadPushkeys = pushkeys
        return conduct
    }

    package static func doing(_ action: Action) -> GatewayConduct {
        var conduct = GatewayConduct()
        conduct.action = action
        return conduct
    }

    /// Whether the items count as received: with a request that is refused they do not; one that is never answered may have been carried out.
    var records: Bool {
        switch action {
        case .answer, .truncate, .hang, .close: true
        case .respond(let status, _, _): (200...299).contains(status)
        }
    }

    private static func standardBody(_ status: Int) -> String {
        switch status {
        case 400: #"{"error":"Invalid data format"}"#
        case 401: #"{"error":"Missing or invalid mutual TLS (mTLS) certificate."}"#
        case 413: #"{"error":"Batch request payload is too large.","details":{"max_request_size_kb":256}}"#
        case 500: #"{"error":"Unexpected failure during processing."}"#
        case 503: #"{"error":"Push Gateway under maintenance or overloaded."}"#
        default: #"{"error":"Simulated."}"#
        }
    }
}

/// A request as a simulated gateway's behaviour sees it, before it is answered.
package struct GatewayArrival: Sendable {
    /// Counts the requests, from 1.
    package var batch: Int
    package var path: String
    /// The ids of the items that could be read, in order; empty for single notifications.
    package var ids: [String]
    /// The devices' keys, in order.
    package var pushkeys: [String]
    /// The subject of the client's certificate, where it showed one.
    package var client: String?
}
