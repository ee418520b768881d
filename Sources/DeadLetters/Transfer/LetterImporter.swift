package import Kafka
internal import Push

/// Puts dead letters of lines back into the dead-letter topics, each once, and keeps account of what the broker says.
///
/// A letter comes with the timestamp that it had, and a topic keeps letters by it: old ones may be gone again soon.
package struct LetterImporter: ~Copyable {
    private static let inFlightLimit = 10_000

    private var producer: AccountedProducer
    private let topics: TopicCatalogue

    package init(_ desk: Desk) throws(DeadLettersError) {
        var configuration = desk.kafka
        if configuration["message.max.bytes"] == nil {
            configuration.set("message.max.bytes", "\(TopicCatalogue.deadLetterLimit)")
        }
        let settings = configuration
        producer = try DeadLetters.kafka { () throws(KafkaError) in
            try AccountedProducer(settings, inFlightLimit: Self.inFlightLimit)
        }
        topics = desk.topics
    }

    /// Letters that the broker has, by the topic they went to.
    package var confirmed: [String: Int] { producer.confirmed }

    package var inFlight: Int { producer.inFlight }

    /// Hands a letter over; waits while too many are in flight.
    ///
    /// - Parameters:
    ///   - letter: of a line.
    ///   - number: of that line, from 1.
    /// - Throws: when it could not even be handed over.
    package mutating func add(_ letter: TransferLine, number: Int) throws(KafkaError) {
        try producer.produce(
            topic: letter.stage == .encrypt ? topics.triggerDeadLetters : topics.notificationDeadLetters,
            key: letter.key,
            value: letter.value,
            headers: letter.headers,
            timestamp: letter.timestamp,
            number: number
        )
    }

    /// Serves delivery reports for up to that long; after the last line, until nothing is in flight.
    package mutating func settle(waiting limit: Duration) { producer.settle(waiting: limit) }

    /// The lines that failed since the last call.
    package mutating func takeFailures() -> [AccountedProducer.Failure] { producer.takeFailures() }

    /// What the client has to complain about since the last call.
    package mutating func takeTroubles() -> [KafkaError] { producer.takeTroubles() }
}
