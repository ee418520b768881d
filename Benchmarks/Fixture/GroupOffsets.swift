internal import Kafka

/// Where groups whose members have left go on.
struct GroupOffsets {
    let kafka: Kafka.Configuration

    private static let timeout = Duration.seconds(60)

    /// Lets a group read a topic from its beginning again.
    func rewind(_ group: String, _ topic: String) throws {
        try commit(group, topic) { _, _ in 0 }
    }

    /// Lets a group read nothing of what is in a topic now.
    func moveToEnd(_ group: String, _ topic: String) throws {
        try commit(group, topic) { consumer, place in
            try consumer.watermarks(place, timeout: Self.timeout).high
        }
    }

    private func commit(
        _ group: String,
        _ topic: String,
        _ offset: (borrowing Consumer, TopicPartition) throws -> Int64
    ) throws {
        var consumer = try Consumer(kafka.setting("group.id", group))
        let offsets = try (0..<EventTopics.partitions).map { partition in
            let place = TopicPartition(topic, partition)
            return TopicPartitionOffset(place, offset: try offset(consumer, place))
        }
        try consumer.commit(offsets, timeout: Self.timeout)
        consumer.close()
    }
}
