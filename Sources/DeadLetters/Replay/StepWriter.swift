internal import Kafka
internal import Lanes
internal import Push

/// Writes the letters of one step and the replay's progress in one Kafka transaction.
///
/// Its transactional id is the topic's: whoever makes the next one fences this one off and ends what it left open. So a process that was
/// taken for dead and wakes up again can commit nothing.
struct StepWriter: ~Copyable {
    private var producer: Producer
    private var isOpen = false
    /// How long the broker may give no answer.
    private let patience: Duration

    private static let initialisation = Duration.seconds(60)
    private static let answer = Duration.seconds(5)
    /// As long as a transaction may be open.
    private static let transaction = Duration.seconds(60)

    init(
        _ source: LetterSource,
        _ kafka: Kafka.Configuration,
        patience: Duration = Self.transaction
    ) throws(DeadLettersError) {
        // Longer than its transaction nobody can wait: the broker ends it.
        self.patience = min(patience, Self.transaction)
        var configuration = kafka
        for (name, value) in [
            ("linger.ms", "20"), ("compression.type", "lz4"),
            // As the encrypt lane and Java's clients: a pusher's notifications stay in their partition.
            ("partitioner", "murmur2_random"), ("message.max.bytes", "\(TopicCatalogue.batchLimit)"),
            ("queue.buffering.max.kbytes", "65536"),
        ] where configuration[name] == nil {
            configuration.set(name, value)
        }
        configuration.set("transactional.id", "\(source.topic).replay")
        configuration.set("transaction.timeout.ms", "\(Self.transaction.components.seconds * 1000)")
        let settings = configuration
        producer = try DeadLetters.kafka { () throws(KafkaError) in try Self.producer(settings) }
    }

    /// A producer that may begin transactions.
    private static func producer(_ configuration: Kafka.Configuration) throws(KafkaError) -> Producer {
        var producer = try Producer(configuration)
        let deadline = Monotonic.deadline(after: initialisation)
        while true {
            do throws(KafkaError) {
                try producer.initTransactions(timeout: initialisation)
                break
            } catch {
                guard error.isRetriable, Monotonic.now() < deadline else { throw error }
            }
        }
        return producer
    }

    mutating func begin() throws(KafkaError) {
        try producer.beginTransaction()
        isOpen = true
    }

    mutating func write(_ record: ReplayedRecord) throws(KafkaError) {
        try producer.produce(
            topic: record.topic,
            key: record.key,
            value: record.value,
            headers: record.headers,
            timestamp: record.timestamp
        )
    }

    /// Waits until the broker has everything; what it refused is thrown.
    mutating func flush() throws(KafkaError) {
        let failed = producer.failedCount
        try producer.flush(timeout: patience)
        if producer.failedCount > failed, let failure = producer.lastFailure { throw failure }
    }

    /// Commits what was written and how far the replay is.
    mutating func commit(
        _ offsets: [TopicPartitionOffset],
        group: borrowing GroupMetadata
    ) throws(KafkaError) {
        let deadline = Monotonic.deadline(after: patience)
        while true {
            do throws(KafkaError) {
                try producer.sendOffsets(offsets, group: group, timeout: Self.answer)
                break
            } catch {
                guard Self.isPassing(error), Monotonic.now() < deadline else { throw error }
            }
        }
        while true {
            do throws(KafkaError) {
                try producer.commitTransaction(timeout: Self.answer)
                isOpen = false
                return
            } catch {
                guard Self.isPassing(error), Monotonic.now() < deadline else { throw error }
            }
        }
    }

    /// Undoes what was written since ``begin()``; nothing if nothing is open.
    mutating func abort() throws(KafkaError) {
        guard isOpen else { return }
        let deadline = Monotonic.deadline(after: patience)
        while true {
            do throws(KafkaError) {
                try producer.abortTransaction(timeout: Self.answer)
                isOpen = false
                return
            } catch {
                guard Self.isPassing(error), Monotonic.now() < deadline else { throw error }
            }
        }
    }

    private static func isPassing(_ error: KafkaError) -> Bool { error.isRetriable && !error.requiresAbort }
}
