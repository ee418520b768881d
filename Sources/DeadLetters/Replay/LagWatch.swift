internal import Kafka

/// Looks at how far the live lanes are behind, so that a replay does not push in front of what has just happened.
///
/// The lag is compared with the least one seen since the replay began: what was waiting before is not the replay's doing, what comes on top of
/// it may be. Offsets of transaction markers count, so it is an upper bound.
struct LagWatch: ~Copyable {
    private let consumer: Consumer
    private let places: [TopicPartition]
    private let allowance: Int64?
    private var least: Int64 = .max
    private var lookedAt: ContinuousClock.Instant?
    private(set) var excess: Int64 = 0

    /// Between looks.
    private static let interval = Duration.seconds(1)
    private static let timeout = Duration.seconds(10)

    /// Looks at how far `group` is behind on `topic`, which may grow by `allowance`; nil does not look.
    init(
        _ configuration: Kafka.Configuration,
        group: String,
        topic: String,
        partitions: [Int32],
        allowance: Int64?
    ) throws(DeadLettersError) {
        do throws(KafkaError) {
            consumer = try Consumer(configuration.setting("group.id", group))
        } catch {
            throw .kafka(error)
        }
        places = partitions.map { TopicPartition(topic, $0) }
        self.allowance = allowance
    }

    /// Whether the lanes should be left alone; asks the brokers once a second at most.
    ///
    /// When they do not answer nothing is known, and nobody is held up: whoever produces will notice by himself.
    mutating func isTooMuch(at now: ContinuousClock.Instant) -> Bool {
        guard let allowance else { return false }
        if let lookedAt, now - lookedAt < Self.interval { return excess > allowance }
        lookedAt = now
        guard let lag = try? lag() else { return false }
        least = min(least, lag)
        excess = lag - least
        return excess > allowance
    }

    private func lag() throws(KafkaError) -> Int64 {
        let committed = try consumer.committed(places, timeout: Self.timeout)
        var lag: Int64 = 0
        for place in places {
            let marks = try consumer.watermarks(place, timeout: Self.timeout)
            lag += max(0, marks.high - max(committed[place] ?? marks.low, marks.low))
        }
        return lag
    }
}
