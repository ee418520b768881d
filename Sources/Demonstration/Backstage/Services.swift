internal import HTTPServer
internal import Kafka
internal import Lanes
internal import LocalServices
internal import Postgres
internal import Push
internal import Registrar
internal import Schema
internal import Sealing
internal import Simulation

/// What the workers need around them, all of it the demonstration's own: database, key file, broker, gateway.
///
/// Made in the order in which an operator would; ``close()`` takes it down again, and nothing of it stays.
struct Services: ~Copyable {
    static let zone = "Europe/Berlin"

    let database: Postgres.Configuration
    var connection: Connection
    var broker: Broker
    var gateway: SimulatedGateway
    private let postgres: PrivatePostgres
    private let folder: TemporaryFolder

    var keyFile: String { "\(folder.path)/keys" }

    /// The address that devices register.
    var gatewayURL: String { "http://127.0.0.1:\(gateway.port)/push/v1/" }

    /// - Parameters:
    ///   - kafka: properties for all clients.
    ///   - prefix: for the topics on a real broker.
    ///   - inbox: where the gateway puts what it takes.
    ///   - steps: is told what is done, and may end it all by throwing.
    /// - Throws: what kept a service from starting.
    init(
        kafka: [String: String],
        prefix: String,
        inbox: Inbox,
        steps: inout Steps
    ) throws {
        let folder = try TemporaryFolder(prefix: "posthorn-demo")
        try steps.begin("PostgreSQL")
        let postgres = try PrivatePostgres()
        let database = try Postgres.Configuration(postgres.url())
        var connection = try Connection(connectingTo: database)
        let applied = try Migrator().apply(to: &connection).count
        try KeyFile.generate("\(folder.path)/keys")
        try steps.end(
            "private, in \(postgres.socketFolder), \(applied) migration\(applied == 1 ? "" : "s") applied"
        )

        try steps.begin("Kafka")
        let isReal = kafka["bootstrap.servers"] != nil
        let broker =
            isReal ? try Broker.real(kafka, prefix: prefix) : try Broker.mock(kafka)
        try steps.end(
            isReal ? "\(broker.servers), topics \(prefix)*" : "librdkafka's mock cluster on \(broker.servers)"
        )

        try steps.begin("Gateway")
        let gateway = try SimulatedGateway(
            SimulatedGateway.Settings(
                listen: ListenAddress(host: "127.0.0.1", port: 0),
                observer: { inbox.add($0) },
                behaviour: { _ in inbox.isFull ? .status(503, retryAfter: "1") : .regular }
            )
        )
        try Self.enter(gateway: gateway.port, in: &connection)
        try steps.end("simulated, HTTP on 127.0.0.1:\(gateway.port)")

        self.folder = folder
        self.postgres = postgres
        self.database = database
        self.connection = connection
        self.broker = broker
        self.gateway = gateway
    }

    /// What `gateways add` and `channels add` do.
    private static func enter(gateway port: UInt16, in connection: inout Connection) throws {
        let entry = GatewayEntry(
            origin: try GatewayOrigin("http://127.0.0.1:\(port)"),
            allowsPrivate: true,
            allowsInsecure: true
        )
        _ = try GatewayDirectory.add(entry, to: &connection)
        for kind in EventKind.allCases {
            var change = ChannelChange(id: kind.channel)
            change.triggerTypes = [kind.type]
            change.defaultStatus = kind.defaultStatus
            _ = try ChannelDirectory.add(change, to: &connection)
        }
    }

    /// Registers devices as `pushers import` does.
    ///
    /// - Parameter count: devices.
    /// - Returns: who they are.
    /// - Throws: what the database or the library of keys refuses.
    mutating func register(_ count: Int) throws -> Population {
        let check = try RegistrationCheck(from: &connection, zone: Self.zone, encryption: .required)
        let population = try Population(devices: count, month: check.rules.currentMonth)
        var work = try PusherImport(check: check, keys: KeyFile.read(keyFile))
        let url = gatewayURL
        for index in 0..<count {
            try work.append(population.importLine(ofDevice: index, gateway: url))
            if work.isFull { try work.flush(to: &connection) }
        }
        try work.flush(to: &connection)
        return population
    }

    /// Takes everything down; the lanes must have ended.
    ///
    /// - Returns: topics that could not be removed from a real broker.
    consuming func close() -> [String] {
        _ = gateway.drain(within: .seconds(2))
        let left = broker.removeTopics()
        postgres.stop()
        return left
    }
}
