import Glibc
import LocalServices
import Support
import Synchronization

/// A broker where who logs in may do what he was given the right to and nothing else; one for all tests, since its start takes seconds.
enum GuardedBroker {
    static let password = "correct-horse-of-"
    private static let running = Mutex<PrivateKafka?>(nil)

    static func shared() throws -> PrivateKafka {
        try running.withLock { running in
            if let running { return running }
            let names = ["worker", "operator", "reader"]
            let accounts = Dictionary(uniqueKeysWithValues: names.map { ($0, password + $0) })
            let broker = try KafkaService.own(accounts: accounts)
            // Statics are never released; without this the broker's folder would stay behind.
            atexit { GuardedBroker.running.withLock { $0 = nil } }
            running = broker
            return broker
        }
    }

    /// How the program logs in as that account.
    static func login(_ name: String, password: String? = nil) throws -> [String: String] {
        [
            "POSTHORN_KAFKA_BOOTSTRAP_SERVERS": try shared().guardedServers,
            "POSTHORN_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "POSTHORN_KAFKA_SASL_MECHANISM": "PLAIN",
            "POSTHORN_KAFKA_SASL_USERNAME": name,
            "POSTHORN_KAFKA_SASL_PASSWORD": password ?? Self.password + name,
            // What has become visible or writable is noticed soon.
            "POSTHORN_KAFKA_TOPIC_METADATA_REFRESH_INTERVAL_MS": "500",
            "POSTHORN_KAFKA_RECONNECT_BACKOFF_MAX_MS": "1000",
        ]
    }

    /// Gives rights to all topics and groups, and if need be transactions, that begin with `prefix`; the roles are the tool's `--producer`
    /// and `--consumer`.
    static func allow(_ name: String, _ roles: [String], _ prefix: String, transactions: Bool = false) throws
    {
        let resources =
            ["--topic", prefix, "--group", prefix] + (transactions ? ["--transactional-id", prefix] : [])
        try rights(
            ["--add", "--allow-principal", "User:\(name)"] + roles + resources + [
                "--resource-pattern-type", "prefixed",
            ]
        )
    }

    /// Gives and takes rights, by Kafka's own tool.
    static func rights(_ words: String...) throws { try rights(words) }

    static func rights(_ words: [String]) throws {
        let (status, output) = try shared().tool("org.apache.kafka.tools.AclCommand", words)
        guard status == .exited(0) else { throw UnexpectedEnd(description: "\(words): \(output)") }
    }
}
