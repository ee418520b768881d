package import Kafka
package import Push

/// Puts trigger events on the triggers topic, in binary mode, and knows of each whether it arrived.
///
/// ```
///   line ──checked as the encrypt lane will──▶ record, key = user ──▶ in flight ──delivery report──▶ confirmed or failed
/// ```
///
/// The order of a user's events is kept, and what is in flight is bounded. Publishing a line again gives the same notification ids. One
/// thread's own.
package struct Publisher: ~Copyable {
    /// Lines that may wait for their reports.
    private static let inFlightLimit = 50_000

    package let topic: String
    private var producer: AccountedProducer
    private var headers = Headers()

    /// - Parameters:
    ///   - kafka: where the broker is, and any property of the operator's.
    ///   - topic: the triggers topic; it must exist.
    /// - Throws: ``KafkaError/property(name:problem:)`` for a setting that is refused.
    package init(_ kafka: Kafka.Configuration, topic: String) throws(KafkaError) {
        producer = try AccountedProducer(kafka, inFlightLimit: Self.inFlightLimit)
        self.topic = topic
    }

    /// Lines that the broker has.
    package var confirmed: Int { producer.confirmed[topic] ?? 0 }

    /// Lines that wait for their reports.
    package var inFlight: Int { producer.inFlight }

    /// Checks a line and hands it to the producer; waits while too many are in flight.
    ///
    /// - Parameters:
    ///   - line: the bytes of one JSON object, a structured CloudEvent.
    ///   - number: names the line in ``takeFailures()``; from 1.
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
        headers.removeAll()
        for header in event.headers { headers.append(name: header.name, header.value) }
        do throws(KafkaError) {
            try producer.produce(
                topic: topic,
                key: event.key,
                value: event.value,
                headers: headers,
                number: number
            )
        } catch {
            throw .kafka(error)
        }
    }

    /// Serves delivery reports for up to that long; after the last line, until nothing is in flight.
    package mutating func settle(waiting limit: Duration) { producer.settle(waiting: limit) }

    /// The lines that failed since the last call.
    package mutating func takeFailures() -> [AccountedProducer.Failure] { producer.takeFailures() }

    /// What the client has to complain about since the last call.
    package mutating func takeTroubles() -> [KafkaError] { producer.takeTroubles() }
}
