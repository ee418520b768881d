internal import Kafka
internal import Push

/// Counts the letters of a replay that come back as new dead letters while it still runs: the fault may not be mended.
struct ReturnWatch: ~Copyable {
    private var consumer: Consumer
    private let replay: [UInt8]
    private var records: [Record] = []
    private(set) var count = 0

    /// Records that are looked at in one go.
    private static let batch = 5000

    /// Looks at what comes behind `bounds` of the topic that letters come back to, for those of `replay`.
    init(
        _ configuration: Kafka.Configuration,
        behind bounds: TopicBounds,
        replay: String
    ) throws(DeadLettersError) {
        self.replay = Array(replay.utf8)
        consumer = try kafka { () throws(KafkaError) in
            let consumer = try Consumer(
                configuration.setting("group.id", "posthorn-dead-letters")
                    .setting("isolation.level", "read_committed")
            )
            try consumer.assign(
                bounds.ranges.map { TopicPartitionOffset(bounds.topic, $0.key, offset: $0.value.upperBound) }
            )
            return consumer
        }
    }

    /// Looks at what has come since the last time, without waiting.
    mutating func look() {
        records.removeAll(keepingCapacity: true)
        // A broker that is away for a moment brings nothing back; the producer will notice.
        _ = try? consumer.poll(into: &records, limit: Self.batch, wait: .zero)
        for record in records where record.headers.value(FailureHeader.replayID.rawValue) == replay {
            count += 1
        }
    }
}
