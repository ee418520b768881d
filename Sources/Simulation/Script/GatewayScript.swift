package import HTTPServer

/// What simulated gateways do, and when: the same as a JSON file for drills and as a value for tests.
///
/// docs/simulated-gateway.md describes every field. Each origin is played by a ``ScriptPlayer``.
package struct GatewayScript: Sendable, Equatable {
    /// The same seed gives the same chances in the same order of requests; default 1.
    package var seed: UInt64
    /// 1 to 32, with names of their own.
    package var origins: [Origin]

    package init(seed: UInt64 = 1, origins: [Origin]) {
        self.seed = seed
        self.origins = origins
    }

    /// One address that notifications are sent to.
    package struct Origin: Sendable, Equatable {
        package var name: String
        /// nil: the caller says where.
        package var listen: ListenAddress?
        /// Certificates by name; the one named default is shown unless a phase says otherwise.
        ///
        /// Without any it is plain HTTP.
        package var tls: [String: Server.TLSPaths]
        /// Bytes of a request; default 262,144.
        package var requestLimit: Int
        /// 1 to 100; the first is played first, and the last goes on for good unless they repeat.
        package var phases: [Phase]
        package var repeats: Bool

        package init(
            name: String = "gateway",
            listen: ListenAddress? = nil,
            tls: [String: Server.TLSPaths] = [:],
            requestLimit: Int = 256 << 10,
            phases: [Phase],
            repeats: Bool = false
        ) {
            self.name = name
            self.listen = listen
            self.tls = tls
            self.requestLimit = requestLimit
            self.phases = phases
            self.repeats = repeats
        }
    }

    /// A time in which the same rules hold; it ends by time or by requests, whichever comes first, or not at all.
    package struct Phase: Sendable, Equatable {
        package var name: String
        package var lasts: Duration?
        package var requests: Int?
        package var manner: GatewayManner
        package var connection: Connection
        /// The first that fits a request decides; without one it is answered as the manner has it.
        package var rules: [Rule]

        package init(
            name: String = "always",
            lasts: Duration? = nil,
            requests: Int? = nil,
            manner: GatewayManner = .specified,
            connection: Connection = .serve(),
            rules: [Rule] = []
        ) {
            self.name = name
            self.lasts = lasts
            self.requests = requests
            self.manner = manner
            self.connection = connection
            self.rules = rules
        }
    }

    /// What becomes of connections; requests on those that were made before and do not fit are closed.
    package enum Connection: Sendable, Equatable {
        /// Served, under the certificate of that name.
        case serve(identity: String = "default")
        /// Closed before a byte is said: a handshake that ends at once.
        case close
        /// The same, with a reset.
        case reset
        /// Accepted, and never a word.
        case hang
        /// Bytes that are neither TLS nor HTTP.
        case garbage
    }

    /// What is done with the requests that it fits.
    package struct Rule: Sendable, Equatable {
        /// nil: every path.
        package var path: String?
        /// Fits a request with an item for one of them.
        ///
        /// A name may end in `*`. Empty: every request.
        package var apps: [String]
        /// Of the requests that it would fit, from 0 to 1.
        package var share: Double
        package var delay: ClosedRange<Duration>
        package var action: Action
        package var retryAfter: RetryAfter?
        package var pace: Pace?
        package var order: Order?
        package var unset: GatewayConduct.Unset
        package var summary: GatewayConduct.Summary
        /// Results for ids that nobody sent.
        package var unknownIDs: Int
        package var forgets: Bool
        /// The first that fits an item decides about it.
        package var items: [ItemRule]

        package init(
            path: String? = nil,
            apps: [String] = [],
            share: Double = 1,
            delay: ClosedRange<Duration> = .zero ... .zero,
            action: Action = .answer,
            retryAfter: RetryAfter? = nil,
            pace: Pace? = nil,
            order: Order? = nil,
            unset: GatewayConduct.Unset = .absent,
            summary: GatewayConduct.Summary = .right,
            unknownIDs: Int = 0,
            forgets: Bool = false,
            items: [ItemRule] = []
        ) {
            self.path = path
            self.apps = apps
            self.share = share
            self.delay = delay
            self.action = action
            self.retryAfter = retryAfter
            self.pace = pace
            self.order = order
            self.unset = unset
            self.summary = summary
            self.unknownIDs = unknownIDs
            self.forgets = forgets
            self.items = items
        }
    }

    package enum Action: Sendable, Equatable {
        case answer
        /// nil: the body that the manner has for the status.
        case status(Int, body: String? = nil, type: String = "application/json")
        /// The first bytes of the answer, as if they were all.
        case truncate(Int)
        case hang
        case close
        /// 200 with a page for people.
        case html
        /// 200 without a body.
        case empty
        /// 200 with JSON that ends in the middle.
        case badJSON
        /// 200 with JSON of another shape.
        case wrongJSON
    }

    package enum RetryAfter: Sendable, Equatable {
        case seconds(Int)
        /// A date, this many seconds from the answer.
        case date(after: Int)
        /// As it is, whatever it is.
        case text(String)
    }

    package enum Order: String, Sendable, CaseIterable {
        case submitted
        case reversed
        case byID = "by_id"
        case random
    }

    /// What becomes of an item.
    package struct ItemRule: Sendable, Equatable {
        /// Fits an item for a device of one of these apps.
        ///
        /// A name may end in `*`. Empty: every item.
        package var apps: [String]
        /// Fits an item for one of these keys; empty: every item.
        package var pushkeys: Set<String>
        /// Of the items that it would fit, from 0 to 1.
        package var share: Double
        /// Whether the share is one of devices, the same every time, instead of one of items.
        package var byPushkey: Bool
        package var outcome: Outcome
        /// The text of `error` where the item fails.
        package var error: String

        package init(
            apps: [String] = [],
            pushkeys: Set<String> = [],
            share: Double = 1,
            byPushkey: Bool = false,
            outcome: Outcome,
            error: String = "Simulated failure."
        ) {
            self.apps = apps
            self.pushkeys = pushkeys
            self.share = share
            self.byPushkey = byPushkey
            self.outcome = outcome
            self.error = error
        }
    }

    package enum Outcome: String, Sendable, CaseIterable {
        case success
        /// `failed` without a dead key.
        case fail
        /// Its keys are told dead; by a reference gateway only with their next request.
        case reject
        /// `failed` for a key that was not in the request.
        case rejectUnknown = "reject_unknown"
        case omit
        case duplicate
        /// One result says the opposite of the other.
        case contradict
    }
}
