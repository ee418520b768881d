import Crdkafka

/// A topic to be made.
package struct TopicSpecification: Sendable, Equatable {
    package var name: String
    /// -1 leaves it to the broker.
    package var partitions: Int32
    /// -1 leaves it to the broker.
    package var replication: Int32
    /// The topic's own settings, such as `retention.ms`.
    package var configuration: [String: String]

    package init(
        _ name: String,
        partitions: Int32 = -1,
        replication: Int32 = -1,
        configuration: [String: String] = [:]
    ) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
        self.configuration = configuration
    }
}

/// How it went with one topic; `error` is `nil` if it went well.
package struct TopicOutcome: Sendable, Equatable {
    package let topic: String
    package let error: KafkaError?
}

/// A topic as the broker shows it.
package struct TopicDescription: Sendable, Equatable {
    package let name: String
    package let partitions: [Partition]
    package let error: KafkaError?

    package struct Partition: Sendable, Equatable {
        package let id: Int32
        /// The broker that leads it; -1 if none does.
        package let leader: Int32
        package let replicaCount: Int
        package let inSyncCount: Int
    }

    init(copying topic: rd_kafka_metadata_topic_t) {
        name = unsafe String(cString: topic.topic)
        let code = unsafe topic.err
        error = code.rawValue == Code.none ? nil : KafkaError(code, "describe topic")
        partitions = (0..<Int(unsafe topic.partition_cnt)).map { index in
            let partition = unsafe topic.partitions[index]
            return Partition(
                id: unsafe partition.id,
                leader: unsafe partition.leader,
                replicaCount: Int(unsafe partition.replica_cnt),
                inSyncCount: Int(unsafe partition.isr_cnt)
            )
        }
    }
}

/// One setting of a topic, and whether somebody chose it.
package struct TopicSetting: Sendable, Equatable {
    /// `nil` for a sensitive one.
    package let value: String?
    /// It comes from the broker's or Kafka's defaults.
    package let isDefault: Bool
}
