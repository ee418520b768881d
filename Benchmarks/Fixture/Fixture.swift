internal import Glibc
internal import Kafka
internal import Lanes
internal import LocalServices
internal import Postgres
internal import Push
internal import Sealing

/// The servers of a session, with everybody registered and every event published; only what is needed is started.
final class Fixture {
    private let arguments: Arguments
    private let signals: Int32
    private let folder: TemporaryFolder
    private var broker: PrivateKafka?
    private var database: PrivatePostgres?
    private let row: GatewayRow
    private var gateways: GatewayProcess?

    private var keyFile: String { "\(folder.path)/keys" }

    /// - Parameters:
    ///   - arguments: what will be measured.
    ///   - signals: readable when the session is to end.
    /// - Throws: ``BenchmarkError/noKafka`` and ``BenchmarkError/unavailable(_:)``.
    init(for arguments: Arguments, signals: Int32) throws {
        self.arguments = arguments
        self.signals = signals
        folder = try TemporaryFolder(prefix: "posthorn-bench")
        row = try GatewayRow()
        let names = arguments.names
        let needsDatabase = names.contains(where: \.needsDatabase)
        let needsKafka = names.contains(where: \.needsKafka)
        if needsKafka && Self.kafkaHome == nil { throw BenchmarkError.noKafka }
        do throws(LocalServicesError) {
            if needsKafka, let home = Self.kafkaHome {
                Console.say("starting Kafka")
                broker = try PrivateKafka(home: home)
            }
            if needsDatabase {
                Console.say("starting PostgreSQL")
                database = try PrivatePostgres()
            }
        } catch {
            throw BenchmarkError.unavailable("\(error)")
        }
        try fill()
    }

    private static var kafkaHome: String? {
        if let named = unsafe getenv("KAFKA_HOME"), unsafe named.pointee != 0 {
            return unsafe String(cString: named)
        }
        return Files.exists(".kafka/libs") ? ".kafka" : nil
    }

    private var kafka: Kafka.Configuration {
        Kafka.Configuration(["bootstrap.servers": broker?.bootstrapServers ?? ""])
    }

    private func topics(_ population: Population) -> EventTopics {
        EventTopics(population: population, kafka: kafka)
    }

    private func fill() throws {
        if let database {
            _ = try KeyFile.generate(keyFile)
            for population in populations(\.needsDatabase) {
                Console.say("registering \(Population.pushers) pushers, \(population.rawValue) a user")
                try database.createDatabase(population.database)
                let seeding = Seeding(population: population, origins: row.origins, keyFile: keyFile)
                try seeding.run(database.url(database: population.database))
                try checkSignals()
            }
        }
        for population in populations(\.needsEvents) {
            Console.say("publishing \(arguments.events) events, \(population.rawValue) a user")
            try topics(population).create(events: arguments.events)
            try checkSignals()
        }
        for stock in Stock.allCases where arguments.names.contains(where: { $0.stock == stock }) {
            try fill(stock)
            try checkSignals()
        }
    }

    private func fill(_ stock: Stock) throws {
        guard let database else { return }
        let count = stock.count(arguments)
        Console.say("writing \(count) notifications: \(stock.rawValue)")
        let url = database.url(database: Population.four.database)
        let writer = StockWriter(stock: stock, kafka: kafka, origins: row.origins)
        try writer.write(count, for: RegisteredPusher.some(Population.pushers, from: url))
    }

    private func populations(_ isNeeded: (BenchmarkName) -> Bool) -> [Population] {
        let needed = Set(arguments.names.filter(isNeeded).map(\.population))
        return Population.allCases.filter(needed.contains)
    }

    // MARK: - Measuring

    /// Puts a benchmark back to the beginning of what it reads, with the gateways that it needs.
    func prepare(_ name: BenchmarkName) throws {
        gateways = nil
        let (count, hanging) = name.gateways
        if count > 0 {
            gateways = try GatewayProcess(Array(row.ports.prefix(count)), hanging: hanging, in: folder.path)
        }
        let topics = name.topics
        let groups = GroupOffsets(kafka: kafka)
        switch name {
        case .copy1, .copy4:
            try groups.rewind(CopyBenchmark.group(name.population), topics.triggers)
        case .encrypt1, .encrypt4: try groups.rewind(topics.encryptGroup, topics.triggers)
        case .drain, .dispatch: try groups.rewind(topics.dispatchGroup, topics.notifications)
        case .dispatchTen, .dispatchHanging:
            try groups.rewind(topics.dispatchGroup, topics.notifications)
            // What the last one has handed over is not for the next one.
            for topic in topics.retries { try groups.moveToEnd(topics.retryGroup, topic) }
        case .waiting: break
        case .replay: try forgetReplays()
        case .seal, .lookup: break
        }
    }

    /// Lets all letters be replayed once more.
    private func forgetReplays() throws {
        guard let database else { return }
        let url = database.url(database: Population.four.database)
        var connection = try Connection(connectingTo: Postgres.Configuration(url))
        try connection.executeScript(
            "TRUNCATE dead_letter_dispositions, dead_letter_replays CASCADE",
            timeout: .seconds(60)
        )
    }

    func assignment(_ name: BenchmarkName) -> Assignment {
        Assignment(
            name: name,
            events: name.stock?.count(arguments) ?? arguments.events,
            bootstrapServers: broker?.bootstrapServers ?? "-",
            // Copying and draining take the settings of their lanes, but nobody connects there.
            databaseURL: database?.url(database: name.population.database) ?? "postgresql:///unused",
            keyFile: keyFile
        )
    }

    /// Waits for the end of a measurement.
    func wait(for child: ChildProcess) throws(BenchmarkError) {
        while child.wait(upTo: .milliseconds(100)) == nil {
            do throws(BenchmarkError) { try checkSignals() } catch {
                child.stop(SIGKILL)
                throw error
            }
        }
    }

    private func checkSignals() throws(BenchmarkError) {
        if Readiness.wait(for: signals, until: 0) { throw .interrupted }
    }
}
