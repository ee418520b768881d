internal import Glibc
internal import Kafka
internal import Lanes
internal import LocalServices
internal import Push
internal import Sealing

/// The servers of a session, with everybody registered and every event published; only what is needed is started.
final class Fixture {
    private let arguments: Arguments
    private let signals: Int32
    private let folder: TemporaryFolder
    private var broker: PrivateKafka?
    private var database: PrivatePostgres?
    private var gateway: GatewayProcess?

    private var keyFile: String { "\(folder.path)/keys" }

    /// - Parameters:
    ///   - arguments: what will be measured.
    ///   - signals: readable when the session is to end.
    /// - Throws: ``BenchmarkError/noKafka`` and ``BenchmarkError/unavailable(_:)``.
    init(for arguments: Arguments, signals: Int32) throws {
        self.arguments = arguments
        self.signals = signals
        folder = try TemporaryFolder(prefix: "posthorn-bench")
        let names = arguments.names
        let needsDatabase = names.contains { $0.needsDatabase || $0.readsNotifications }
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
        let port = try FreePort.pick()
        if let database {
            _ = try KeyFile.generate(keyFile)
            for population in populations({ $0.needsDatabase || $0.readsNotifications }) {
                Console.say("registering \(Population.pushers) pushers, \(population.rawValue) a user")
                try database.createDatabase(population.database)
                let seeding = Seeding(
                    population: population,
                    gateway: "http://127.0.0.1:\(port)",
                    keyFile: keyFile
                )
                try seeding.run(database.url(database: population.database))
                try checkSignals()
            }
        }
        if broker != nil {
            for population in populations(\.needsKafka) {
                Console.say("publishing \(arguments.events) events, \(population.rawValue) a user")
                try topics(population).create(events: arguments.events)
                try checkSignals()
            }
        }
        if arguments.names.contains(.dispatch) { gateway = try GatewayProcess(port: port, in: folder.path) }
    }

    private func populations(_ isNeeded: (BenchmarkName) -> Bool) -> [Population] {
        let needed = Set(arguments.names.filter(isNeeded).map(\.population))
        return Population.allCases.filter(needed.contains)
    }

    // MARK: - Measuring

    /// Puts the group of a benchmark back to the beginning of what it reads.
    func prepare(_ name: BenchmarkName) throws {
        let (topics, events) = (name.population.topics, topics(name.population))
        switch name {
        case .copy1, .copy4:
            try events.rewind(group: CopyBenchmark.group(name.population), topic: topics.triggers)
        case .encrypt1, .encrypt4: try events.rewind(group: topics.encryptGroup, topic: topics.triggers)
        case .drain, .dispatch: try events.rewind(group: topics.dispatchGroup, topic: topics.notifications)
        case .seal, .lookup: break
        }
    }

    func assignment(_ name: BenchmarkName) -> Assignment {
        Assignment(
            name: name,
            events: arguments.events,
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
