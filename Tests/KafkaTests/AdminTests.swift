import Glibc
import LocalServices
import Support
import Testing

@testable import Kafka

@Suite(.needsKafka)
struct AdminTests {
    @Test
    func `a question about a partition whose leader does not answer ends in its time`() throws {
        let admin = try Admin(Local.settings())
        let name = uniqueName("topic")
        _ = try admin.createTopics([TopicSpecification(name, partitions: 1)], timeout: Local.patience)
        try eventually("the partition has a leader") {
            (try? admin.watermarks(TopicPartition(name, 0), timeout: Local.patience)) != nil
        }
        let broker = try KafkaService.shared()
        broker.signal(SIGSTOP)
        defer { broker.signal(SIGCONT) }
        let start = ContinuousClock.now
        #expect(throws: KafkaError.self) {
            try admin.watermarks(TopicPartition(name, 0), timeout: .milliseconds(300))
        }
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test
    func `a topic is made with its settings, described and deleted`() throws {
        let admin = try Admin(Local.settings())
        let name = uniqueName("topic")
        let specification = TopicSpecification(
            name,
            partitions: 3,
            configuration: ["retention.ms": "3600000", "cleanup.policy": "delete"]
        )
        #expect(
            try admin.createTopics([specification], timeout: Local.patience)
                == [TopicOutcome(topic: name, error: nil)]
        )
        let again = try admin.createTopics([specification], timeout: Local.patience)
        #expect(again.first?.error?.isTopicAlreadyThere == true)

        let topic = try #require(try admin.topics(timeout: Local.patience).first { $0.name == name })
        #expect(topic.partitions.map(\.id) == [0, 1, 2])
        #expect(topic.partitions.allSatisfy { $0.replicaCount == 1 && $0.inSyncCount == 1 && $0.leader == 1 })
        let settings = try #require(try admin.settings(ofTopics: [name], timeout: Local.patience)[name])
        #expect(settings["retention.ms"] == TopicSetting(value: "3600000", isDefault: false))
        #expect(settings["max.message.bytes"]?.isDefault == true)

        let deleted = try admin.deleteTopics([name, uniqueName("nowhere")], timeout: Local.patience)
        #expect(deleted.count == 2)
        #expect(deleted.first { $0.topic == name }?.error == nil)
        #expect(deleted.first { $0.topic != name }?.error?.isUnknownTopic == true)
        try eventually("the topic is gone") {
            try !admin.topics(timeout: Local.patience).contains { $0.name == name }
        }
        #expect(try admin.settings(ofTopics: [name], timeout: Local.patience) == [:])
    }

    @Test
    func `a setting or number that the broker refuses names the topic`() throws {
        let admin = try Admin(Local.settings())
        let name = uniqueName("topic")
        let outcomes = try admin.createTopics(
            [
                TopicSpecification(name, configuration: ["no.such.setting": "1"]),
                TopicSpecification("\(name)-replicas", replication: 5),
            ],
            timeout: Local.patience
        )
        #expect(outcomes.count == 2)
        for outcome in outcomes {
            #expect(outcome.error?.description.contains(outcome.topic) == true)
            #expect(outcome.error?.isRetriable == false)
        }
        #expect(throws: KafkaError.self) {
            try admin.createTopics([TopicSpecification(name, partitions: 200_000)], timeout: Local.patience)
        }
    }

    @Test
    func `a group's offsets and the watermarks are seen from outside`() throws {
        let (topic, group) = (try Local.topic(partitions: 2), uniqueName("group"))
        var producer = try Local.producer()
        for _ in 0..<4 { try producer.produce(topic: topic, partition: 1, key: nil, value: nil) }
        try producer.flush(timeout: Local.patience)
        let consumer = try Local.consumer(group: group)
        try consumer.commit([TopicPartitionOffset(topic, 1, offset: 3)], timeout: Local.patience)

        let admin = try Admin(Local.settings())
        let (empty, place) = (TopicPartition(topic, 0), TopicPartition(topic, 1))
        #expect(
            try admin.committedOffsets(ofGroup: group, places: [empty, place], timeout: Local.patience) == [
                place: 3
            ]
        )
        #expect(try admin.committedOffsets(ofGroup: group, places: [], timeout: Local.patience) == [:])
        #expect(try admin.groups(timeout: Local.patience).contains(group))
        #expect(try admin.watermarks(place, timeout: Local.patience) == Watermarks(low: 0, high: 4))
    }
}
