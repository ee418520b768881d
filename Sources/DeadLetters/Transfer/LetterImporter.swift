package import Kafka
internal import Push

/// Puts dead letters of lines back into the dead-letter topics, each once, and keeps account of what the broker says.
///
/// ```
/// line ──read──▶ record of its stage's topic ──▶ in flight ──delivery report──▶ confirmed or failed
/// ```
///
/// A letter comes with the timestamp that it had, and a topic keeps letters by it: old ones may be gone again soon.
package struct LetterImporter: ~Copyable {
    /// A line that the broker did not take.
    package struct Failure: Sendable, Equatable {
        package let line: Int
        package let error: KafkaError
        /// The broker may have it all the same.
        package let isPossiblyWritten: Bool
    }

    private static let inFlightLimit = 10_000

    /// Letters that the broker has, by the topic they went to.
    package private(set) var confirmed: [String: Int] = [:]
    package private(set) var inFlight = 0
    private var failures: [Failure] = []
    private var producer: Producer
    private let topics: TopicCatalogue
    private var deliveries: [Delivery] = []
    /// By line, the topic that it was for.
    private var targets: [UInt64: String] = [:]

    package init(_ desk: Desk) throws(DeadLettersError) {
        var configuration = desk.kafka
        for (name, value) in [
            ("linger.ms", "20"), ("compression.type", "lz4"), ("partitioner", "murmur2_random"),
            ("message.max.bytes", "\(TopicCatalogue.deadLetterLimit)"),
            ("queue.buffering.max.kbytes", "65536"), ("message.timeout.ms", "60000"),
            // With more, librdkafka 2.0.2 can take a broker's crash for lost records and end the producer (its pull request 4438).
            ("max.in.flight.requests.per.connection", "1"),
        ] where configuration[name] == nil {
            configuration.set(name, value)
        }
        let settings = configuration
        producer = try DeadLetters.kafka { () throws(KafkaError) in try Producer(settings) }
        topics = desk.topics
    }

    /// Hands a letter over; waits while too many are in flight.
    ///
    /// - Parameters:
    ///   - letter: of a line.
    ///   - number: of that line, from 1.
    /// - Throws: when it could not even be handed over.
    package mutating func add(_ letter: TransferLine, number: Int) throws(KafkaError) {
        settle(waiting: .zero)
        while inFlight >= Self.inFlightLimit { settle(waiting: .milliseconds(100)) }
        let topic =
            letter.stage == .encrypt ? topics.triggerDeadLetters : topics.notificationDeadLetters
        try producer.produce(
            topic: topic,
            key: letter.key,
            value: letter.value,
            headers: letter.headers,
            timestamp: letter.timestamp,
            id: UInt64(number)
        )
        targets[UInt64(number)] = topic
        inFlight += 1
    }

    /// Serves delivery reports for up to that long; after the last line, until nothing is in flight.
    package mutating func settle(waiting limit: Duration) {
        producer.poll(timeout: limit)
        deliveries.removeAll(keepingCapacity: true)
        producer.takeDeliveries(into: &deliveries)
        for delivery in deliveries {
            inFlight -= 1
            let topic = targets.removeValue(forKey: delivery.id) ?? ""
            switch delivery.outcome {
            case .written: confirmed[topic, default: 0] += 1
            case .failed(let error, let isPossiblyWritten):
                failures.append(
                    Failure(line: Int(delivery.id), error: error, isPossiblyWritten: isPossiblyWritten)
                )
            }
        }
    }

    /// The failures since the last call.
    package mutating func takeFailures() -> [Failure] {
        defer { failures.removeAll() }
        return failures
    }

    /// What the client has to complain about since the last call.
    package mutating func takeTroubles() -> [KafkaError] { producer.takeTroubles() }
}
