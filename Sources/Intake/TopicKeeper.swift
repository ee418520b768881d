package import Kafka
package import Push

/// Makes the topics of the catalogue, and tells what differs from it on a broker.
package struct TopicKeeper: ~Copyable {
    /// What became of one topic.
    package struct Creation: Sendable, Equatable {
        package enum Outcome: Sendable, Equatable {
            case created
            /// It was there and is left as it was; ``TopicKeeper/check()`` tells whether it is as it should be.
            case existing
            case failed(KafkaError)
        }

        package let topic: String
        package let outcome: Outcome
    }

    /// One thing that is not as it should be.
    package struct Difference: Sendable, Equatable {
        package enum Kind: String, Sendable {
            case missing
            case partitions
            case replication
            case setting
            /// A topic that must keep every record is compacted: records without a key are refused, others dropped.
            case compacted
        }

        package let topic: String
        package let kind: Kind
        /// The setting's name, else the kind's.
        package let what: String
        /// Nil for a topic that is missing.
        package let actual: String?
        package let expected: String
    }

    private let admin: Admin
    private let topics: [Topic]
    private let replication: Int?
    private let timeout: Duration

    /// - Parameters:
    ///   - kafka: where the broker is.
    ///   - catalogue: which topics there are.
    ///   - partitions: of the topics that lanes work on, from 1.
    ///   - replication: copies of each partition; nil leaves it to the broker.
    ///   - timeout: for each request.
    /// - Throws: ``KafkaError/property(name:problem:)`` for a setting that is refused.
    package init(
        _ kafka: Kafka.Configuration,
        _ catalogue: TopicCatalogue,
        partitions: Int,
        replication: Int?,
        timeout: Duration = .seconds(60)
    ) throws(KafkaError) {
        admin = try Admin(kafka)
        topics = catalogue.topics(partitions: partitions)
        self.replication = replication
        self.timeout = timeout
    }

    /// Makes every topic that is not there, with its settings.
    ///
    /// - Returns: what became of each, in the catalogue's order.
    /// - Throws: when the request as a whole failed.
    package func create() throws(KafkaError) -> [Creation] {
        let outcomes = try admin.createTopics(
            topics.map {
                TopicSpecification(
                    $0.name,
                    partitions: Int32(clamping: $0.partitions),
                    replication: replication.map { Int32(clamping: $0) } ?? -1,
                    configuration: $0.settings
                )
            },
            timeout: timeout
        )
        let errors = Dictionary(
            outcomes.map { ($0.topic, $0.error) },
            uniquingKeysWith: { first, _ in first }
        )
        return topics.map { topic in
            switch errors[topic.name] ?? nil {
            case nil: Creation(topic: topic.name, outcome: .created)
            case let error? where error.isTopicAlreadyThere: Creation(topic: topic.name, outcome: .existing)
            case let error?: Creation(topic: topic.name, outcome: .failed(error))
            }
        }
    }

    /// Compares the broker's topics with the catalogue.
    ///
    /// - Returns: every difference, in the catalogue's order; empty if all is as it should be.
    package func check() throws(KafkaError) -> [Difference] {
        let described = try admin.topics(timeout: timeout)
        let present = Dictionary(described.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let names = topics.map(\.name).filter { present[$0] != nil }
        let settings = try admin.settings(ofTopics: names, timeout: timeout)
        return topics.flatMap { topic in
            guard let found = present[topic.name], !found.partitions.isEmpty else {
                return [
                    Difference(
                        topic: topic.name,
                        kind: .missing,
                        what: "topic",
                        actual: nil,
                        expected: "present"
                    )
                ]
            }
            return partitions(topic, found) + self.settings(topic, settings[topic.name] ?? [:])
        }
    }

    private func partitions(_ topic: Topic, _ found: TopicDescription) -> [Difference] {
        var differences: [Difference] = []
        if found.partitions.count != topic.partitions {
            differences.append(
                Difference(
                    topic: topic.name,
                    kind: .partitions,
                    what: "partitions",
                    actual: String(found.partitions.count),
                    expected: String(topic.partitions)
                )
            )
        }
        let copies = found.partitions.map(\.replicaCount).min() ?? 0
        if let replication, copies != replication {
            differences.append(
                Difference(
                    topic: topic.name,
                    kind: .replication,
                    what: "replication",
                    actual: String(copies),
                    expected: String(replication)
                )
            )
        }
        return differences
    }

    private func settings(_ topic: Topic, _ found: [String: TopicSetting]) -> [Difference] {
        topic.settings.sorted { $0.key < $1.key }.compactMap { name, expected in
            let actual = found[name]?.value
            guard actual != expected else { return nil }
            let isCompacted =
                name == "cleanup.policy" && (actual ?? "").split(separator: ",").contains("compact")
            return Difference(
                topic: topic.name,
                kind: isCompacted ? .compacted : .setting,
                what: name,
                actual: actual,
                expected: expected
            )
        }
    }
}
