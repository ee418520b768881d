internal import Glibc
package import LocalServices
internal import Synchronization
package import Testing

/// The real Kafka of a test run: one broker for all tests of the process, started when the first one asks.
///
/// Tests share it and keep apart by topic and group names of their own (``uniqueName(_:)``).
package enum KafkaService {
    /// Where the broker's jars are: `KAFKA_HOME`, else `.kafka` in the checkout (see `make kafka`), else nowhere.
    ///
    /// An empty `KAFKA_HOME` means nowhere, also where there is a `.kafka`.
    package static let home: String? = {
        if let named = unsafe getenv("KAFKA_HOME") {
            let path = unsafe String(cString: named)
            return path.isEmpty ? nil : path
        }
        let local = Checkout.path(".kafka")
        return Files.exists("\(local)/libs") ? local : nil
    }()

    private static let running = Mutex<PrivateKafka?>(nil)

    /// The shared broker; a test that stops it starts one of its own instead (``own()``).
    package static func shared() throws -> PrivateKafka {
        try running.withLock { running in
            if let running { return running }
            let broker = try own()
            // Statics are never released; without this the broker's folder would stay behind.
            atexit { KafkaService.running.withLock { $0 = nil } }
            running = broker
            return broker
        }
    }

    /// A broker that belongs to one test, which may stop and restart it.
    package static func own(
        brokers: Int = 1,
        accounts: [String: String] = [:],
        settings: [String: String] = [:]
    ) throws -> PrivateKafka {
        guard let home else { throw MissingKafka() }
        return try PrivateKafka(home: home, brokers: brokers, accounts: accounts, settings: settings)
    }

    /// A broker that is killed is missed after three seconds, not nine: until then neither others nor its successor can take its place.
    package static let fastFailover = [
        "broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500",
    ]

    package struct MissingKafka: Error {}
}

extension Trait where Self == ConditionTrait {
    /// The test runs only with a real Kafka; without one it is reported as skipped, by name.
    package static var needsKafka: Self {
        .enabled(if: KafkaService.home != nil, "needs a real Kafka: set KAFKA_HOME or run 'make kafka'")
    }
}
