internal import Intake
internal import Kafka
internal import Push

/// The broker of a demonstration: librdkafka's mock cluster in this process, or a real one with topics of the demonstration's own.
///
/// Topics that were made on a real one are deleted when this goes, if not before.
struct Broker: ~Copyable {
    /// Partitions of the topics that the lanes work on.
    static let partitions = 6
    /// Nobody watches a demonstration for as long as a retry waits elsewhere.
    private static let retryDelays: [Duration] = [.seconds(1), .seconds(5)]
    /// For each request to a real one.
    private static let timeout = Duration.seconds(10)

    let topics: TopicCatalogue
    /// For every client.
    let kafka: Kafka.Configuration
    private let cluster: MockCluster?
    private var areTopicsThere = false

    /// Whether it is a real one.
    var isReal: Bool { cluster == nil }

    var servers: String { kafka["bootstrap.servers"] ?? "" }

    private init(_ topics: TopicCatalogue, _ kafka: Kafka.Configuration, _ cluster: consuming MockCluster?) {
        self.topics = topics
        self.kafka = kafka
        self.cluster = cluster
    }

    /// A mock cluster with the topics made; it takes no port but on loopback and ends with this.
    static func mock(_ properties: [String: String]) throws(KafkaError) -> Broker {
        let cluster = try MockCluster()
        let topics = TopicCatalogue(retryDelays: Self.retryDelays)
        for name in [
            topics.triggers, topics.triggerDeadLetters, topics.notifications, topics.notificationDeadLetters,
        ] + topics.retries {
            try cluster.createTopic(name, partitions: Int32(Self.partitions))
        }
        var kafka = Kafka.Configuration(properties)
        // The mock cluster answers a read that found nothing when its time is over, not when something comes.
        if kafka["fetch.wait.max.ms"] == nil { kafka.set("fetch.wait.max.ms", "10") }
        kafka.set("bootstrap.servers", cluster.bootstrapServers)
        return Broker(topics, kafka, cluster)
    }

    /// The broker that `bootstrap.servers` names, with the topics made there.
    ///
    /// - Parameters:
    ///   - properties: for all clients.
    ///   - prefix: stands before the names of topics and groups, so that they are the demonstration's alone.
    /// - Returns: the broker, with the topics made.
    /// - Throws: ``KafkaError`` when it does not answer, ``DemoError/topic(name:reason:)`` when it refuses; no topic is left then.
    static func real(_ properties: [String: String], prefix: String) throws -> Broker {
        var broker = Broker(
            TopicCatalogue(prefix: prefix, retryDelays: Self.retryDelays),
            Kafka.Configuration(properties),
            nil
        )
        broker.areTopicsThere = true
        try broker.createTopics()
        return broker
    }

    private func createTopics() throws {
        let keeper = try TopicKeeper(
            kafka,
            topics,
            partitions: Self.partitions,
            replication: nil,
            timeout: Self.timeout
        )
        for creation in try keeper.create() {
            if case .failed(let error) = creation.outcome {
                throw DemoError.topic(name: creation.topic, reason: "\(error)")
            }
        }
    }

    /// Deletes the topics that were made on a real broker.
    ///
    /// - Returns: those that are still there.
    mutating func removeTopics() -> [String] {
        guard areTopicsThere else { return [] }
        areTopicsThere = false
        return Self.remove(topics, from: kafka, within: Self.timeout)
    }

    deinit {
        // Something has failed, perhaps the broker itself, which is not waited for again.
        if areTopicsThere { _ = Self.remove(topics, from: kafka, within: .seconds(3)) }
    }

    private static func remove(
        _ topics: TopicCatalogue,
        from kafka: Kafka.Configuration,
        within timeout: Duration
    ) -> [String] {
        let names = topics.topics(partitions: partitions).map(\.name)
        do throws(KafkaError) {
            let outcomes = try Admin(kafka).deleteTopics(names, timeout: timeout)
            return outcomes.filter { $0.error.map { !$0.isUnknownTopic } ?? false }.map(\.topic)
        } catch {
            return names
        }
    }
}
