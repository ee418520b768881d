package import Kafka
package import Postgres
package import Push

/// What an encrypt lane is told; every lane of a process gets the same but for its transactional id.
package struct EncryptSettings: Sendable {
    /// Where the broker is, and any librdkafka property of the operator's.
    package var kafka: Kafka.Configuration
    package var database: Postgres.Configuration
    /// Path of the key-encryption keys.
    package var keyFile: String
    package var topics = TopicCatalogue()
    /// Names this process among those of its group, the same again after a restart: a new producer with the id of a dead one ends that one's
    /// open transaction at once, which others would wait for otherwise.
    package var instance: String
    /// Which names a dead letter's headers have.
    package var deadLetterNaming = DeadLetterNaming.own
    /// Events in one turn, from 1 to 10,000.
    package var batchLimit = 1000
    /// How long a turn waits for more events once it has one; the latency that a busy broker need not have.
    package var linger: Duration = .milliseconds(5)
    /// The zone whose calendar says which month it is.
    package var zone = "Europe/Berlin"
    /// The longest that one Kafka transaction may take, and that a dead predecessor's can block the partitions.
    package var transactionTimeout: Duration = .seconds(30)

    package init(
        kafka: Kafka.Configuration,
        database: Postgres.Configuration,
        keyFile: String,
        instance: String
    ) {
        self.kafka = kafka
        self.database = database
        self.keyFile = keyFile
        self.instance = instance
    }

    /// The consumer of every lane.
    package func consumer() -> Kafka.Configuration {
        kafka
            .setting("group.id", topics.encryptGroup)
            .setting("isolation.level", "read_committed")
            .setting("auto.offset.reset", "earliest")
    }

    /// The producer of one lane of this process, by the lane's index.
    package func producer(lane: Int) -> Kafka.Configuration {
        var configuration = kafka
        // A commit flushes at once, so a long linger costs no latency and saves the wake-ups that producing mostly is.
        for (name, value) in [
            ("linger.ms", "100"), ("queue.buffering.max.kbytes", "65536"), ("compression.type", "lz4"),
            ("partitioner", "murmur2_random"), ("message.max.bytes", "\(TopicCatalogue.deadLetterLimit)"),
        ] where configuration[name] == nil {
            configuration.set(name, value)
        }
        return
            configuration
            .setting("transactional.id", "\(topics.encryptGroup)-\(instance)-\(lane)")
            .setting("transaction.timeout.ms", "\(transactionTimeout.components.seconds * 1000)")
    }
}
