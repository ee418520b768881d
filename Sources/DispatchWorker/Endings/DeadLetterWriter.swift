internal import Kafka
internal import Push

/// Writes dead letters and hand-overs, and says of each when the broker has it: before that its offset must not be committed.
///
/// A record that is too large with the story of its failure is written with a shorter one, at last with none. One lane's own.
struct DeadLetterWriter: ~Copyable {
    /// How one write ended.
    struct Result {
        let ticket: Ticket
        /// Nil for a hand-over.
        let reason: DeadLetterReason?
        let topic: String
        /// Nil if the broker has it.
        let error: KafkaError?
        /// It was too large, and will be shorter when it is written again.
        var isToBeCut = false
    }

    private struct Write {
        let ticket: Ticket
        let reason: DeadLetterReason?
        let topic: String
    }

    private var producer: Producer
    private let naming: DeadLetterNaming
    private var writes: [UInt64: Write] = [:]
    private var nextID: UInt64 = 0
    private var deliveries: [Delivery] = []
    /// How often the story of a record's failure had to be shortened.
    private var cuts: [Ticket: Int] = [:]

    /// Bytes for the story, by how often it was shortened.
    private static let budgets = [Int.max, 1024, 256, 0]

    init(
        _ configuration: Kafka.Configuration,
        _ naming: DeadLetterNaming,
        wakeup: Int32
    ) throws(KafkaError) {
        self.naming = naming
        // A full queue means that the broker takes nothing; the lane has other things to do than to wait for it.
        producer = try Producer(configuration, queueFullTimeout: .zero)
        producer.wake(wakeup)
    }

    /// Writes that are under way.
    var pendingCount: Int { writes.count }

    /// Hands a record to the broker; its end comes from ``takeResults()``.
    ///
    /// - Throws: when it cannot even be queued.
    mutating func write(
        _ failure: FailureRecord,
        _ ticket: Ticket,
        reason: DeadLetterReason?,
        to topic: String
    ) throws(KafkaError) {
        nextID += 1
        while true {
            let cut = min(cuts[ticket] ?? 0, Self.budgets.count - 1)
            do throws(KafkaError) {
                try producer.produce(
                    topic: topic,
                    key: failure.record.key,
                    value: failure.record.value,
                    headers: failure.headers(budget: Self.budgets[cut], naming),
                    timestamp: failure.record.timestamp,
                    id: nextID
                )
                writes[nextID] = Write(ticket: ticket, reason: reason, topic: topic)
                return
            } catch {
                guard error.isRecordTooLarge, cut < Self.budgets.count - 1 else { throw error }
                cuts[ticket] = cut + 1
            }
        }
    }

    /// The writes that have ended since this was last called.
    mutating func takeResults() -> [Result] {
        producer.poll()
        producer.takeDeliveries(into: &deliveries)
        defer { deliveries.removeAll(keepingCapacity: true) }
        return deliveries.compactMap { delivery in
            guard let write = writes.removeValue(forKey: delivery.id) else { return nil }
            switch delivery.outcome {
            case .written:
                cuts[write.ticket] = nil
                return Result(ticket: write.ticket, reason: write.reason, topic: write.topic, error: nil)
            case .failed(let error, _):
                let cut = cuts[write.ticket] ?? 0
                let isToBeCut = error.isRecordTooLarge && cut < Self.budgets.count - 1
                if isToBeCut { cuts[write.ticket] = cut + 1 }
                return Result(
                    ticket: write.ticket,
                    reason: write.reason,
                    topic: write.topic,
                    error: error,
                    isToBeCut: isToBeCut
                )
            }
        }
    }

    /// Errors of the client since the last call.
    mutating func takeTroubles() -> [KafkaError] { producer.takeTroubles() }

    /// The error after which no more can be written.
    var fatalError: KafkaError? { producer.fatalError }

    /// Forgets about records that are no longer this lane's.
    mutating func forgetCuts() { cuts.removeAll() }
}
