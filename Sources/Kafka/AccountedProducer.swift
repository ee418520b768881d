/// A producer that keeps account: every record has a number, and every number ends as confirmed or as a failure.
///
/// ```
/// produce ──▶ in flight, bounded ──delivery report──▶ confirmed, by topic
///                                                └──▶ failure, by number
/// ```
///
/// For records that somebody sends once and wants to know about, such as the lines of a file. It is idempotent and keeps the order of a
/// partition; a record is confirmed when the broker has it as durably as `acks` says, all in-sync replicas by default. One thread's own.
package struct AccountedProducer: ~Copyable {
    /// A record that the broker did not take.
    package struct Failure: Sendable, Equatable {
        package let number: Int
        package let error: KafkaError
        /// The broker may have it all the same.
        package let isPossiblyWritten: Bool
    }

    /// Records that the broker has, by topic.
    package private(set) var confirmed: [String: Int] = [:]
    /// Records that wait for their reports.
    package private(set) var inFlight = 0

    private let inFlightLimit: Int
    private var producer: Producer
    private var failures: [Failure] = []
    private var deliveries: [Delivery] = []
    /// By number, the topic that it is for.
    private var targets: [UInt64: String] = [:]

    /// - Parameters:
    ///   - configuration: any property of the operator's; where it is silent, what suits many small records.
    ///   - inFlightLimit: records that may wait for their reports, from 1.
    /// - Throws: ``KafkaError/property(name:problem:)`` for a setting that is refused.
    package init(_ configuration: Configuration, inFlightLimit: Int) throws(KafkaError) {
        var configuration = configuration
        // The partitioner is the one of Java's clients, so that records with one key from both lie in one partition.
        for (name, value) in [
            ("enable.idempotence", "true"), ("linger.ms", "20"), ("compression.type", "lz4"),
            ("partitioner", "murmur2_random"), ("queue.buffering.max.kbytes", "65536"),
            ("message.timeout.ms", "60000"),
            // With several requests under way when a broker is killed, librdkafka before 2.3.0 can lose count and give up for good (its
            // pull request 4438).
            ("max.in.flight.requests.per.connection", "1"),
        ] where configuration[name] == nil {
            configuration.set(name, value)
        }
        producer = try Producer(configuration)
        self.inFlightLimit = inFlightLimit
    }

    /// Hands a record over; waits while too many are in flight.
    ///
    /// - Parameters:
    ///   - topic: must exist.
    ///   - key: of the record; nil is a null key.
    ///   - value: of the record; nil is a tombstone.
    ///   - headers: in order.
    ///   - timestamp: milliseconds since the Unix epoch; nil is now.
    ///   - number: names the record in ``takeFailures()``; from 1, each once.
    /// - Throws: when it could not even be handed over; it has no end then.
    package mutating func produce(
        topic: String,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: borrowing Headers,
        timestamp: Int64? = nil,
        number: Int
    ) throws(KafkaError) {
        settle(waiting: .zero)
        while inFlight >= inFlightLimit { settle(waiting: .milliseconds(100)) }
        let id = UInt64(number)
        try producer.produce(
            topic: topic,
            key: key,
            value: value,
            headers: headers,
            timestamp: timestamp,
            id: id
        )
        targets[id] = topic
        inFlight += 1
    }

    /// Serves delivery reports for up to that long.
    ///
    /// After the last record, call it until nothing is in flight: each has an end of its own, `message.timeout.ms` (60 s unless set
    /// otherwise) after it was handed over.
    package mutating func settle(waiting limit: Duration) {
        producer.poll(timeout: limit)
        deliveries.removeAll(keepingCapacity: true)
        producer.takeDeliveries(into: &deliveries)
        for delivery in deliveries {
            guard let topic = targets.removeValue(forKey: delivery.id) else { continue }
            inFlight -= 1
            switch delivery.outcome {
            case .written: confirmed[topic, default: 0] += 1
            case .failed(let error, let isPossiblyWritten):
                failures.append(
                    Failure(number: Int(delivery.id), error: error, isPossiblyWritten: isPossiblyWritten)
                )
            }
        }
    }

    /// The failures since the last call, in the order of their reports.
    package mutating func takeFailures() -> [Failure] {
        defer { failures.removeAll() }
        return failures
    }

    /// What the client has to complain about since the last call, such as a broker that cannot be reached; it keeps trying.
    package mutating func takeTroubles() -> [KafkaError] { producer.takeTroubles() }
}
