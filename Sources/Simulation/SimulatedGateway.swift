package import HTTPServer

/// A push gateway that keeps what it gets instead of passing it on to a push provider.
///
/// Takes all interfaces of ``GatewayInterface``, checks requests as strictly as the specification allows, and answers as a gateway does. What it
/// received is in the record file before the answer leaves, and goes to the observer. A behaviour, or one origin of a ``GatewayScript``, can
/// make it do anything else, so that tests, demonstrations and drills can see how a sender copes.
///
/// Behind its one address stands a server for each certificate of the script; ``ConnectionFront`` hands connections over to them.
package struct SimulatedGateway: ~Copyable, Sendable {
    private var server: Server
    private let others: [OtherServer]
    private let desk: GatewayDesk

    package struct Settings: Sendable {
        /// What it is called in the ledger; a player's origin has a name of its own.
        package var name: String
        package var listen: ListenAddress
        /// nil: plain HTTP.
        package var tls: Server.TLSPaths?
        /// The file to append received items to; nil: none.
        package var record: String?
        /// Called with the items of each request before it is answered, on a server thread.
        package var observer: (@Sendable ([ReceivedItem]) -> Void)?
        /// What to do with a request; the default does what the specification says.
        package var behaviour: @Sendable (GatewayArrival) -> GatewayConduct
        /// Server threads; default 1.
        package var threads: Int
        /// Bytes of a request; default 262,144, the least that a gateway must accept.
        package var requestLimit: Int
        /// Items of a batch; default 100.
        package var batchLimit: Int
        /// Connections at once; default 4096.
        package var connections: Int
        /// Where receipts are kept that can be asked for; nil: nowhere.
        package var ledger: GatewayLedger?
        /// Decides instead of the behaviour; its script also has a say about certificates and the size of requests.
        package private(set) var player: ScriptPlayer?

        package init(
            name: String = "gateway",
            listen: ListenAddress,
            tls: Server.TLSPaths? = nil,
            record: String? = nil,
            observer: (@Sendable ([ReceivedItem]) -> Void)? = nil,
            behaviour: @escaping @Sendable (GatewayArrival) -> GatewayConduct = { _ in .regular },
            threads: Int = 1,
            requestLimit: Int = 256 << 10,
            batchLimit: Int = 100,
            connections: Int = 4096,
            ledger: GatewayLedger? = nil,
            player: ScriptPlayer? = nil
        ) {
            self.name = player?.origin.name ?? name
            self.listen = listen
            self.tls = player?.origin.tls["default"] ?? tls
            self.record = record
            self.observer = observer
            self.behaviour = behaviour
            self.threads = threads
            self.requestLimit = player?.origin.requestLimit ?? requestLimit
            self.batchLimit = batchLimit
            self.connections = connections
            self.ledger = ledger
            self.player = player
        }
    }

    /// What has happened since the start.
    package struct Counts: Sendable, Equatable {
        package var requests: Int
        /// Items recorded, repeats included.
        package var items: Int

        package init(requests: Int = 0, items: Int = 0) {
            self.requests = requests
            self.items = items
        }
    }

    /// - Throws: ``ServerError`` or ``SimulationError`` when the address, a certificate or the record file cannot be used.
    package init(_ settings: Settings) throws {
        let desk = try GatewayDesk(settings)
        var others: [OtherServer] = []
        var receptions: [String: Reception] = [:]
        for (identity, tls) in (settings.player?.origin.tls ?? [:]).sorted(by: { $0.key < $1.key })
        where identity != "default" {
            var configuration = Self.configuration(settings)
            configuration.listen = nil
            configuration.tls = tls
            let server = try Server(
                configuration,
                deferring: { try desk.take($0, $1, under: identity) }
            )
            receptions[identity] = server.reception
            others.append(OtherServer(server))
        }
        var configuration = Self.configuration(settings)
        if let player = settings.player {
            let front = ConnectionFront(player: player, ledger: settings.ledger, receptions: receptions)
            configuration.greet = { front.greet($0) }
        }
        server = try Server(configuration, deferring: { try desk.take($0, $1, under: "default") })
        self.others = others
        self.desk = desk
    }

    /// The real port, also where the settings say 0.
    package var port: UInt16 { server.port }

    package var counts: Counts { desk.counts }

    /// Takes no more requests and answers those in flight; the ones that hang are broken off.
    ///
    /// - Returns: whether all in flight were answered.
    package mutating func drain(within grace: Duration) -> Bool {
        desk.letGo()
        var isDone = server.drain(within: grace)
        for other in others where !other.drain(within: grace) { isDone = false }
        return isDone
    }

    private static func configuration(_ settings: Settings) -> Server.Configuration {
        Server.Configuration(
            listen: settings.listen,
            threads: settings.threads,
            limits: Server.Limits(bodyBytes: settings.requestLimit, connections: settings.connections),
            tls: settings.tls,
            refuse: { refusal in
                guard case .bodyTooLarge(let limit) = refusal else { return refusal.standardResponse }
                return GatewayAnswerWriter.tooLarge(limit: limit)
            }
        )
    }
}
