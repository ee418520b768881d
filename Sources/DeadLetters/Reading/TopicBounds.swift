package import Kafka
internal import Lanes
package import Push

/// From where to where the partitions of a topic are read: fixed once, so that what is written meanwhile does not count.
///
/// The end is that of `read_committed` readers: nothing behind it is waited for.
package struct TopicBounds: Hashable, Sendable {
    package let topic: String
    /// By partition; empty ranges included.
    package var ranges: [Int32: Range<Int64>]

    package init(topic: String, ranges: [Int32: Range<Int64>]) {
        self.topic = topic
        self.ranges = ranges
    }

    /// All that the topic has now.
    ///
    /// A topic that is new, or whose leader moves, has none for a moment; the brokers are then asked again.
    package static func now(
        of topic: String,
        _ admin: borrowing Admin
    ) throws(DeadLettersError) -> TopicBounds {
        let topics = try kafka { () throws(KafkaError) in try admin.topics(timeout: patience) }
        guard let found = topics.first(where: { $0.name == topic }), !found.partitions.isEmpty else {
            throw .noSuchTopic(topic)
        }
        var ranges: [Int32: Range<Int64>] = [:]
        for partition in found.partitions {
            let marks = try marks(TopicPartition(topic, partition.id), admin)
            ranges[partition.id] = marks.low..<max(marks.low, marks.high)
        }
        return TopicBounds(topic: topic, ranges: ranges)
    }

    /// Time for the brokers to answer.
    private static let patience = Duration.seconds(30)

    private static func marks(
        _ place: TopicPartition,
        _ admin: borrowing Admin
    ) throws(DeadLettersError) -> Watermarks {
        let deadline = Monotonic.deadline(after: patience)
        while true {
            do throws(KafkaError) {
                return try admin.watermarks(place, timeout: patience)
            } catch {
                guard error.isRetriable, Monotonic.now() < deadline else { throw .kafka(error) }
                StopSign.none.wait(for: .milliseconds(100))
            }
        }
    }

    /// Only what the filter can match by partition and offset.
    package func narrowed(by filter: DeadLetterFilter) -> TopicBounds {
        var narrowed: [Int32: Range<Int64>] = [:]
        for (partition, range) in ranges { narrowed[partition] = filter.narrow(range, partition: partition) }
        return TopicBounds(topic: topic, ranges: narrowed)
    }

    /// Nothing that lies behind the end of `other`, as of an earlier look at the same topic.
    package func ending(with other: TopicBounds) -> TopicBounds {
        var cut: [Int32: Range<Int64>] = [:]
        for (partition, range) in ranges {
            let end = other.ranges[partition]?.upperBound ?? range.lowerBound
            cut[partition] = range.clamped(to: min(end, range.lowerBound)..<end)
        }
        return TopicBounds(topic: topic, ranges: cut)
    }

    /// Offsets within, records or not.
    package var span: Int64 { ranges.values.reduce(0) { $0 + Int64($1.count) } }

    /// The partitions that have something, in order.
    package var partitions: [Int32] { ranges.filter { !$0.value.isEmpty }.keys.sorted() }
}
