internal import Kafka
internal import Push

/// The topics of a population on the broker, and the trigger events on them.
struct EventTopics {
    let population: Population
    let kafka: Kafka.Configuration

    static let partitions: Int32 = 12

    /// Makes the topics and publishes `events` trigger events.
    func create(events: Int) throws {
        let topics = population.topics
        let wanted = [
            topics.triggers, topics.triggerDeadLetters, topics.notifications, topics.notificationDeadLetters,
        ]
        var specifications = topics.topics(partitions: Int(Self.partitions)).filter {
            wanted.contains($0.name)
        }
        .map { TopicSpecification($0.name, partitions: Int32($0.partitions), configuration: $0.settings) }
        specifications.append(
            TopicSpecification(
                population.copies,
                partitions: Self.partitions,
                configuration: ["max.message.bytes": "\(TopicCatalogue.batchLimit)"]
            )
        )
        let admin = try Admin(kafka)
        let outcomes = try admin.createTopics(specifications, timeout: .seconds(60))
        if let error = outcomes.compactMap(\.error).first { throw error }
        try publish(events)
    }

    private func publish(_ events: Int) throws {
        var producer = try Producer(
            kafka.setting("linger.ms", "50").setting("compression.type", "lz4")
                .setting("partitioner", "murmur2_random")
        )
        for number in 0..<events {
            let user = population.user(ofEvent: number)
            var headers = Headers()
            headers.append("ce_specversion", text: "1.0")
            headers.append("ce_id", text: Population.eventID(number))
            headers.append("ce_source", text: Population.source)
            headers.append("ce_type", text: Population.triggerType)
            headers.append("ce_subject", text: user)
            headers.append("ce_priority", text: "high")
            headers.append("content-type", text: "application/json")
            try producer.produce(
                topic: population.topics.triggers,
                key: Array(user.utf8),
                value: Array(Population.content(number).utf8),
                headers: headers
            )
        }
        try producer.flush(timeout: .seconds(120))
        if let failure = producer.lastFailure { throw failure }
    }
}
