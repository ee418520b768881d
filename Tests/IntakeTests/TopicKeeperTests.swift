import Intake
import Kafka
import LocalServices
import Push
import Support
import Testing

@Suite(.needsKafka) struct TopicKeeperTests {
    private func configuration() throws -> Kafka.Configuration {
        try Kafka.Configuration(["bootstrap.servers": KafkaService.shared().bootstrapServers])
    }

    @Test func `all topics are made as they should be, and left alone the next time`() throws {
        let catalogue = TopicCatalogue(prefix: "\(uniqueName("topics"))-")
        let keeper = try TopicKeeper(configuration(), catalogue, partitions: 4, replication: nil)
        let missing = try keeper.check()
        #expect(missing.map(\.topic) == catalogue.topics().map(\.name))
        #expect(missing.allSatisfy { $0.kind == .missing })
        let made = try keeper.create()
        #expect(made.map(\.topic) == catalogue.topics().map(\.name))
        #expect(made.allSatisfy { $0.outcome == .created })
        try eventually("the broker shows the topics as they should be") { try keeper.check().isEmpty }
        #expect(try keeper.create().allSatisfy { $0.outcome == .existing })
    }

    @Test func `what differs is told, a compacted topic as its own fault (K14)`() throws {
        let catalogue = TopicCatalogue(prefix: "\(uniqueName("topics"))-")
        let admin = try Admin(configuration())
        _ = try admin.createTopics(
            [
                TopicSpecification(
                    catalogue.triggers,
                    partitions: 2,
                    configuration: ["cleanup.policy": "compact", "retention.ms": "1000"]
                )
            ],
            timeout: .seconds(60)
        )
        let keeper = try TopicKeeper(configuration(), catalogue, partitions: 4, replication: 3)
        _ = try keeper.create()
        var differences: [TopicKeeper.Difference] = []
        try eventually("the broker shows the topic") {
            differences = try keeper.check().filter { $0.topic == catalogue.triggers }
            return differences.contains { $0.kind != .missing }
        }
        let found = Dictionary(uniqueKeysWithValues: differences.map { ($0.what, $0) })
        #expect(found["partitions"]?.actual == "2")
        #expect(found["partitions"]?.expected == "4")
        #expect(found["replication"]?.actual == "1")
        #expect(found["cleanup.policy"]?.kind == .compacted)
        #expect(found["retention.ms"]?.actual == "1000")
        #expect(found["retention.ms"]?.expected == "86400000")
    }

    @Test func `a replication that the brokers cannot give fails by topic`() throws {
        let catalogue = TopicCatalogue(prefix: "\(uniqueName("topics"))-")
        let keeper = try TopicKeeper(configuration(), catalogue, partitions: 1, replication: 3)
        let made = try keeper.create()
        #expect(
            made.allSatisfy { creation in
                if case .failed = creation.outcome { true } else { false }
            }
        )
    }
}
