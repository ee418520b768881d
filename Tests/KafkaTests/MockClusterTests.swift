import Support
import Testing

@testable import Kafka

@Suite
struct MockClusterTests {
    @Test
    func `the mock cluster carries records from a producer to a group`() throws {
        let cluster = try MockCluster()
        try cluster.createTopic("events", partitions: 3)
        let settings = Configuration(["bootstrap.servers": cluster.bootstrapServers, "group.id": "readers"])
        var producer = try Producer(settings)
        var headers = Headers()
        headers.append("id", text: "7")
        for index in 0..<30 {
            try producer.produce(
                topic: "events",
                key: Local.bytes("key \(index)"),
                value: nil,
                headers: headers
            )
        }
        try producer.flush(timeout: Local.patience)

        var consumer = try Consumer(settings)
        try consumer.subscribe(["events"])
        var events: [ConsumerEvent] = []
        let records = try consumer.read(30, events: &events)
        #expect(Set(records.map(\.key)).count == 30)
        #expect(records.allSatisfy { $0.isTombstone && $0.headers.text("id") == "7" })
        let assigned = (0..<3).map { TopicPartition("events", $0) }
        #expect(events.contains(.assigned(assigned)))
        let place = records[29].place
        try consumer.commit([TopicPartitionOffset(place, offset: 1)], timeout: Local.patience)
        #expect(try consumer.committed([place], timeout: Local.patience) == [place: 1])
        #expect(try Admin(settings).topics(timeout: Local.patience).first?.partitions.count == 3)
        let hasLeft = consumer.close()
        #expect(hasLeft)
    }

    @Test
    func `a transaction's calls succeed on the mock cluster`() throws {
        let cluster = try MockCluster()
        try cluster.createTopic("in")
        try cluster.createTopic("out")
        let settings = Configuration(["bootstrap.servers": cluster.bootstrapServers, "group.id": "readers"])
        let consumer = try Consumer(settings)
        var producer = try Producer(settings.setting("transactional.id", "one"))
        try producer.initTransactions(timeout: Local.patience)
        try producer.beginTransaction()
        try producer.produce(topic: "out", key: nil, value: [1])
        try producer.sendOffsets(
            [TopicPartitionOffset("in", 0, offset: 1)],
            group: consumer.groupMetadata(),
            timeout: Local.patience
        )
        try producer.commitTransaction(timeout: Local.patience)
        #expect(producer.deliveredCount == 1)
        // Written down here because the demonstration has to live with it: such offsets are forgotten.
        #expect(try consumer.committed([TopicPartition("in", 0)], timeout: Local.patience) == [:])
    }

    @Test
    func `a topic cannot be made twice`() throws {
        let cluster = try MockCluster(brokers: 2)
        try cluster.createTopic("events")
        let error = #expect(throws: KafkaError.self) { try cluster.createTopic("events") }
        #expect(error?.isTopicAlreadyThere == true)
    }

    @Test
    func `a refused request is tried again until it goes through`() throws {
        let cluster = try MockCluster()
        try cluster.createTopic("events")
        var producer = try Producer(Configuration(["bootstrap.servers": cluster.bootstrapServers]))
        cluster.refuseNext(apiKey: 0, codes: [6, 6])  // Produce: not the leader
        try producer.produce(topic: "events", key: nil, value: [1], id: 5)
        try producer.flush(timeout: Local.patience)
        var deliveries: [Delivery] = []
        producer.takeDeliveries(into: &deliveries)
        #expect(deliveries == [Delivery(id: 5, outcome: .written(partition: 0, offset: 0))])
    }
}
