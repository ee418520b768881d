package import HTTPServer

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
    /// Items that are `failed` for keys that were not in the request, by id.
    package var strangeKeys: [String: [String]] = [:]
    package var order = Order.asSubmitted
    /// Ids that the results do not mention.
    package var omittedIDs: Set<String> = []
    /// Ids whose result comes twice.
    package var repeatedIDs: Set<String> = []
    /// Ids that have two results which contradict each other.
    package var contradictedIDs: Set<String> = []
    /// Ids that nobody sent and that have a result all the same.
    package var unknownIDs: [String] = []
    package var unset = Unset.absent
    package var summary = Summary.right
    /// How slowly, and how far, the answer is sent.
    package var pace: Pace?
    /// Whether the items are neither recorded nor counted, although they are answered: a gateway that loses what it has taken.
    package var forgets = false

    package enum Action: Sendable, Equatable {
        /// Check the request and answer it as the specification says, with the failures above.
        case answer
        /// Answer this instead; nothing is checked.
        case respond(status: Int, body: String, type: String = "application/json")
        /// Answer this status, with the body that the gateway's manner has for it.
        case refuse(status: Int)
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
        case shuffled(seed: UInt64)
    }

    /// How `rejected` and `error` of a result are written where there is none.
    package enum Unset: String, Sendable, CaseIterable {
        case absent
        case null
        /// `[]` and `""`.
        case empty
    }

    package enum Summary: String, Sendable, CaseIterable {
        case right
        /// Says the opposite of the results.
        case wrong
        case absent
    }

    package init() {}

    package static var regular: GatewayConduct { GatewayConduct() }

    /// Answers a status, with the body that the gateway's manner has for it.
    package static func status(_ status: Int, retryAfter: String? = nil) -> GatewayConduct {
        var conduct = GatewayConduct()
        conduct.action = .refuse(status: status)
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
        guard !forgets else { return false }
        return switch action {
        case .answer, .truncate, .hang, .close: true
        case .respond(let status, _, _), .refuse(let status): (200...299).contains(status)
        }
    }
}

/// A request as a simulated gateway's behaviour sees it, before it is answered.
package struct GatewayArrival: Sendable {
    /// Counts the requests, from 1.
    package var batch: Int
    package var path: String
    /// The items that could be read, in order; those of single notifications have no id.
    package var items: [Item]
    /// The subject of the client's certificate, where it showed one.
    package var client: String?

    package struct Item: Sendable, Equatable {
        package var id: String?
        package var devices: [ReceivedDevice]

        package init(id: String?, devices: [ReceivedDevice]) {
            self.id = id
            self.devices = devices
        }
    }

    package init(batch: Int, path: String, items: [Item], client: String? = nil) {
        self.batch = batch
        self.path = path
        self.items = items
        self.client = client
    }

    /// The ids of the items, in order; empty for single notifications.
    package var ids: [String] { items.compactMap(\.id) }

    /// The devices' keys, in order.
    package var pushkeys: [String] { items.flatMap { $0.devices.map(\.pushkey) } }
}

/// A device that an item is for.
package struct ReceivedDevice: Sendable, Equatable {
    package var app: String
    package var pushkey: String

    package init(app: String, pushkey: String) {
        self.app = app
        self.pushkey = pushkey
    }
}
