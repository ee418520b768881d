package import Kafka
package import Push

/// Puts trigger events on the triggers topic, in binary mode, and knows of each whether it arrived.
///
/// ```
///   line ──checked as the encrypt lane will──▶ record, key = user ──▶ in flight ──delivery report──▶ confirmed or failed
/// ```
///
/// The producer is idempotent and keeps the order of a user's events. What is in flight is bounded by ``inFlightLimit``. A line is
/// confirmed when the broker has it as durably as `acks` says, all in-sync replicas by default. One thread's own.
package struct Publisher: ~Copyable {
    /// A line that the broker did not take.
    package struct Failure: Sendable, Equatable {
        package let line: Int
        package let error: KafkaError
        /// The broker may have it all the same: publishing it again gives the same notification ids.
        package let isPossiblyWritten: Bool
    }

    /// Lines that may wait for their reports.
    package static let inFlightLimit = 50_000

    package let topic: String
    /// Lines that the broker has.
    package private(set) var confirmed = 0
    /// Lines that it has not, in the order of their reports; for the caller to take.
    package private(set) var failures: [Failure] = []
    /// Lines that wait for their reports.
    package private(set) var inFlight = 0

    private var producer: Producer
    private var headers = Headers()
    private var deliveries: [Delivery] = []

    /// - Parameters:
    ///   - kafka: where the broker is, and any property of the operator's.
    ///   - topic: the triggers topic; it must exist.
    /// - Throws: ``KafkaError/property(name:problem:)`` for a setting that is refused.
    package init(_ kafka: Kafka.Configuration, topic: String) throws(KafkaError) {
        var configuration = kafka
        // The partitioner is the one of Java's clients, so that a user's events from both lie in one partition.
        for (name, value) in [
            ("enable.idempotence", "true"), ("linger.ms", "20"), ("compression.type", "lz4"),
            ("partitioner", "murmur2_random"), ("queue.buffering.max.kbytes", "65536"),
            ("message.timeout.ms", "60000"),
            // With several on their way when a broker is killed, librdkafka before 2.3.0 can lose count and give up for good (its pull
            // request 4438).
            ("max.in.flight.requests.per.connection", "1"),
        ] where configuration[name] == nil {
            configuration.set(name, value)
        }
        producer = try Producer(configuration)
        self.topic = topic
    }

    /// Checks a line and hands it to the producer; waits while too many are in flight.
    ///
    /// - Parameters:
    ///   - line: the bytes of one JSON object, a structured CloudEvent.
    ///   - number: names the line in ``failures``; from 1.
    ///   - now: stands in for an absent `time` in the check.
    /// - Throws: ``PublishError/event(_:)`` for a line that is none; ``PublishError/kafka(_:)`` if it could not be handed over.
    package mutating func publish(
        _ line: [UInt8],
        number: Int,
        now: Timestamp
    ) throws(PublishError) {
        let event: PublishableEvent
        do throws(TriggerEventError) {
            event = try PublishableEvent(structured: line, now: now)
        } catch {
            throw .event(error)
        }
        settle(waiting: .zero)
        while inFlight >= Self.inFlightLimit { settle(waiting: .milliseconds(100)) }
        headers.removeAll()
        for header in event.headers { headers.append(name: header.name, header.value) }
        do throws(KafkaError) {
            try producer.produce(
                topic: topic,
                key: event.key,
                value: event.value,
                headers: headers,
                id: UInt64(number)
            )
        } catch {
            throw .kafka(error)
        }
        inFlight += 1
    }

    /// Serves delivery reports for up to that long.
    ///
    /// After the last line, call it until nothing is in flight: each record has an end of its own, `message.timeout.ms` (60 s unless set
    /// otherwise) after it was handed over.
    package mutating func settle(waiting limit: Duration) {
        producer.poll(timeout: limit)
        deliveries.removeAll(keepingCapacity: true)
        producer.takeDeliveries(into: &deliveries)
        for delivery in deliveries {
            inFlight -= 1
            switch delivery.outcome {
            case .written: confirmed += 1
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

    /// What the client has to complain about since the last call, such as a broker that cannot be reached; it keeps trying.
    package mutating func takeTroubles() -> [KafkaError] { producer.takeTroubles() }
}
