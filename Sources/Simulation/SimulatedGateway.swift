package import HTTPServer
internal import Push
internal import Synchronization

/// A push gateway that keeps what it gets instead of passing it on to a push provider.
///
/// Takes all interfaces of ``GatewayInterface``, checks requests as strictly as the specification allows, and answers as a gateway does. What it
/// received is in the record file before the answer leaves, and goes to the observer. A behaviour can make it do anything else, so that
/// tests, demonstrations and drills can see how a sender copes.
package struct SimulatedGateway: ~Copyable {
    private var server: Server
    private let desk: GatewayDesk

    package struct Settings: Sendable {
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

        package init(
            listen: ListenAddress,
            tls: Server.TLSPaths? = nil,
            record: String? = nil,
            observer: (@Sendable ([ReceivedItem]) -> Void)? = nil,
            behaviour: @escaping @Sendable (GatewayArrival) -> GatewayConduct = { _ in .regular },
            threads: Int = 1,
            requestLimit: Int = 256 << 10,
            batchLimit: Int = 100,
            connections: Int = 4096
        ) {
            self.listen = listen
            self.tls = tls
            self.record = record
            self.observer = observer
            self.behaviour = behaviour
            self.threads = threads
            self.requestLimit = requestLimit
            self.batchLimit = batchLimit
            self.connections = connections
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
        let requestLimit = settings.requestLimit
        let configuration = Server.Configuration(
            listen: settings.listen,
            threads: settings.threads,
            limits: Server.Limits(bodyBytes: requestLimit, connections: settings.connections),
            tls: settings.tls,
            refuse: { refusal in
                guard case .bodyTooLarge(let limit) = refusal else { return refusal.standardResponse }
                return GatewayAnswerWriter.tooLarge(limit: limit)
            }
        )
        server = try Server(configuration, deferring: { try desk.take($0, $1) })
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
        return server.drain(within: grace)
    }
}
