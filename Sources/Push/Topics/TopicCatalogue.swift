/// Every topic of the pipeline: names, partitions and settings, in one place.
///
/// | topic | holds | kept |
/// |---|---|---|
/// | `push.triggers` | plaintext | 1 day: twice the default lifetime of an event |
/// | `push.triggers.dlq` | plaintext | 3 days, so that a weekend passes; give it access rights of its own |
/// | `push.notifications` | ciphertext | 2 days |
/// | `push.notifications.retry.<delay>` | ciphertext | 2 days |
/// | `push.notifications.dlq` | ciphertext | 14 days |
/// | `push.notifications.parking` | ciphertext | 30 days: half of what a device's keys last |
///
/// Dead letters keep the timestamps of their records, so "kept" counts from the event, not from its failure.
package struct TopicCatalogue: Hashable, Sendable {
    /// Stands before every name, default empty; for a demonstration beside others on one cluster.
    package let prefix: String
    /// The steps of the retry ladder.
    package let retryDelays: [Duration]

    /// 30 s, 2 min, 8 min, 30 min, 2 h.
    package static let defaultRetryDelays: [Duration] = [30, 120, 480, 1800, 7200].map { .seconds($0) }

    package init(prefix: String = "", retryDelays: [Duration] = defaultRetryDelays) {
        self.prefix = prefix
        self.retryDelays = retryDelays
    }

    package var triggers: String { prefix + "push.triggers" }
    package var triggerDeadLetters: String { prefix + "push.triggers.dlq" }
    package var notifications: String { prefix + "push.notifications" }
    package var notificationDeadLetters: String { prefix + "push.notifications.dlq" }
    package var parking: String { prefix + "push.notifications.parking" }
    /// One per delay, in their order.
    package var retries: [String] {
        retryDelays.map { retryStem + Self.name(of: $0) }
    }

    private var retryStem: String { prefix + "push.notifications.retry." }

    /// Whether a topic is for retries, be it by another setting of the delays.
    package func isRetry(_ topic: String) -> Bool { topic.hasPrefix(retryStem) }

    /// The consumer groups, named with the same prefix.
    package var encryptGroup: String { prefix + "push.encrypt" }
    package var dispatchGroup: String { prefix + "push.dispatch" }
    /// Reads the retry topics, so that what waits there is no lag of the dispatch group.
    package var retryGroup: String { prefix + "push.dispatch.retry" }

    /// All topics as they should be.
    ///
    /// - Parameter partitions: of the topics that lanes work on, 1 or more, default 12; the others have at most 3.
    /// - Returns: in the order of an event's way.
    package func topics(partitions: Int = 12) -> [Topic] {
        let busy = max(partitions, 1)
        let quiet = min(busy, 3)
        var topics = [
            Topic(triggers, partitions: busy, days: 1, maximumBytes: Self.batchLimit),
            Topic(triggerDeadLetters, partitions: quiet, days: 3, maximumBytes: Self.deadLetterLimit),
            Topic(notifications, partitions: busy, days: 2, maximumBytes: Self.batchLimit),
        ]
        topics += retries.map { Topic($0, partitions: busy, days: 2, maximumBytes: Self.deadLetterLimit) }
        topics += [
            Topic(notificationDeadLetters, partitions: quiet, days: 14, maximumBytes: Self.deadLetterLimit),
            Topic(parking, partitions: quiet, days: 30, maximumBytes: Self.deadLetterLimit),
        ]
        return topics
    }

    /// Kafka's own default, 1 MiB and a batch's framing.
    ///
    /// Kafka holds whole batches against `max.message.bytes`, not records, and clients build batches of up to 1,000,000 bytes: a topic
    /// with less refuses a lane that catches up, whose records have 2 KB each. Source: librdkafka's `batch.size`.
    package static let batchLimit = 1_048_588
    /// 64 KiB more, for a dead letter of a record as large as that with the headers that say what went wrong.
    package static let deadLetterLimit = batchLimit + 64 << 10

    /// `30s`, `2m`, `2h`: in the largest unit that divides it; below a second `500ms`.
    static func name(of delay: Duration) -> String {
        let (seconds, attoseconds) = max(delay, .zero).components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        if milliseconds > 0 { return "\(seconds * 1000 + milliseconds)ms" }
        if seconds > 0, seconds % 3600 == 0 { return "\(seconds / 3600)h" }
        if seconds > 0, seconds % 60 == 0 { return "\(seconds / 60)m" }
        return "\(seconds)s"
    }
}

/// A topic as it should be.
package struct Topic: Hashable, Sendable {
    package var name: String
    package var partitions: Int
    /// Kafka's topic settings by name; replication and `min.insync.replicas` are the broker's.
    package var settings: [String: String]

    init(_ name: String, partitions: Int, days: Int, maximumBytes: Int) {
        self.name = name
        self.partitions = partitions
        settings = [
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "max.message.bytes": String(maximumBytes),
            "message.timestamp.type": "CreateTime",
            "retention.ms": String(days * 86_400_000),
        ]
    }
}
