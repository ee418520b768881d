package import Kafka
internal import Lanes

/// Reads the records of a topic between fixed bounds, batch by batch, each partition in order; moves no offsets of anybody.
///
/// ```
/// begin(bounds) ─▶ next ─▶ records … ─▶ next ─▶ [] at the end
/// ```
///
/// A partition can end in markers of transactions, which nobody is handed; Kafka's word that it is read to its end counts then.
package struct Scanner: ~Copyable {
    private var consumer: Consumer
    /// When nothing was given for so long, something must be wrong.
    private let patience: Duration
    private var bounds = TopicBounds(topic: "", ranges: [:])
    /// Partitions that are not read to their ends.
    private var open: Set<Int32> = []
    private var polled: [Record] = []

    /// A reader that names `group` and is no member of it; nothing is committed but by a replay's transactions.
    package init(
        _ configuration: Kafka.Configuration,
        group: String,
        patience: Duration = .seconds(60)
    ) throws(DeadLettersError) {
        self.patience = patience
        let configuration = configuration.setting("group.id", group)
            .setting("enable.partition.eof", "true")
            .setting("isolation.level", "read_committed")
            .setting("auto.offset.reset", "earliest")
        consumer = try kafka { () throws(KafkaError) in try Consumer(configuration) }
    }

    /// Starts to read between `bounds`, whatever was read before.
    package mutating func begin(_ bounds: TopicBounds) throws(DeadLettersError) {
        self.bounds = bounds
        polled.removeAll(keepingCapacity: true)
        open = Set(bounds.partitions)
        let places = bounds.ranges.compactMap { partition, range in
            range.isEmpty
                ? nil : TopicPartitionOffset(bounds.topic, partition, offset: range.lowerBound)
        }
        do throws(KafkaError) {
            try consumer.assign(places)
        } catch {
            throw .kafka(error)
        }
    }

    /// The next records, up to `limit`; empty once everything was handed out.
    ///
    /// - Throws: ``DeadLettersError/stalled(topic:_:)`` when nothing comes for too long; ``DeadLettersError/kafka(_:)`` for a missing
    ///   right and the like.
    package mutating func next(limit: Int) throws(DeadLettersError) -> [Record] {
        var records: [Record] = []
        let deadline = Monotonic.deadline(after: patience)
        while records.isEmpty, !open.isEmpty {
            try poll(limit: limit, into: &records)
            if records.isEmpty, !open.isEmpty, Monotonic.now() >= deadline {
                throw .stalled(topic: bounds.topic, patience)
            }
        }
        return records
    }

    /// Who is asking, for a transaction that commits progress.
    package func groupMetadata() throws(DeadLettersError) -> GroupMetadata {
        do throws(KafkaError) { return try consumer.groupMetadata() } catch { throw .kafka(error) }
    }

    private mutating func poll(limit: Int, into records: inout [Record]) throws(DeadLettersError) {
        polled.removeAll(keepingCapacity: true)
        var finished: [Int32] = []
        do throws(KafkaError) {
            let events = try consumer.poll(
                into: &polled,
                limit: limit,
                wait: .milliseconds(100),
                linger: .milliseconds(5)
            )
            for record in polled {
                guard open.contains(record.partition), let range = bounds.ranges[record.partition] else {
                    continue
                }
                if record.offset < range.upperBound { records.append(record) }
                if record.offset >= range.upperBound - 1 { finish(record.partition, &finished) }
            }
            for event in events {
                guard case .failed(let error, let place) = event else { continue }
                if error.isPartitionEnd {
                    if let place { finish(place.partition, &finished) }
                } else if place != nil, !error.isRetriable, !error.isTimeout {
                    throw error
                }
            }
            // What comes behind the end is of no interest, and need not be fetched.
            if !finished.isEmpty { try consumer.pause(finished.map { TopicPartition(bounds.topic, $0) }) }
        } catch {
            throw .kafka(error)
        }
    }

    private mutating func finish(_ partition: Int32, _ finished: inout [Int32]) {
        if open.remove(partition) != nil { finished.append(partition) }
    }
}
