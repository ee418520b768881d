import Support
import Testing

@testable import Kafka

@Suite(.needsKafka)
struct RoundTripTests {
    @Test(
        arguments: [
            (nil, nil), ([], []), (nil, []), ([], nil), ([0, 255, 0], [0xc3, 0x28]), (Array("key".utf8), nil),
        ] as [([UInt8]?, [UInt8]?)]
    )
    func `a key and a value come back as they were, null or empty`(key: [UInt8]?, value: [UInt8]?) throws {
        // The timestamp is older than what a broker keeps by default.
        let topic = try Local.topic(configuration: ["retention.ms": "-1"])
        var producer = try Local.producer()
        try producer.produce(topic: topic, key: key, value: value, timestamp: 1_700_000_000_123)
        try producer.flush(timeout: Local.patience)

        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(topic, 0, offset: TopicPartitionOffset.beginning)])
        let record = try #require(try consumer.read(1).first)
        #expect(record.key == key)
        #expect(record.value == value)
        #expect(record.isTombstone == (value == nil))
        #expect(record.timestamp == 1_700_000_000_123)
        #expect(record.place == TopicPartition(topic, 0))
        #expect(record.offset == 0)
        #expect(record.headers.isEmpty)
    }

    @Test
    func `odd headers come back in order, byte by byte`() throws {
        var headers = Headers([
            Header("null", nil), Header("empty", []), Header("", text: "no name"),
            Header("twice", text: "one"), Header("twice", text: "two"),
            Header(nameBytes: [0xff, 0xfe, 0x41], value: [0x00, 0xff]), Header("naïve 🦉", text: "ü"),
        ])
        headers.append("static", text: "text")
        let topic = try Local.topic()
        var producer = try Local.producer()
        try producer.produce(topic: topic, key: nil, value: [1], headers: headers)
        try producer.flush(timeout: Local.patience)

        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(topic, 0, offset: TopicPartitionOffset.beginning)])
        let record = try #require(try consumer.read(1).first)
        #expect(Array(record.headers) == Array(headers))
        #expect(record.headers == headers)
        #expect(record.headers.count == 8)
        #expect(!record.hasUnreadableHeaders)
    }

    @Test
    func `a record with ten thousand headers is read`() throws {
        let topic = try Local.topic()
        var headers = Headers()
        for index in 0..<10_000 { headers.append(name: "h\(index)", Array("\(index)".utf8)) }
        var producer = try Local.producer()
        try producer.produce(topic: topic, key: nil, value: nil, headers: headers)
        try producer.produce(topic: topic, key: nil, value: [7])
        try producer.flush(timeout: Local.patience)

        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(topic, 0, offset: TopicPartitionOffset.beginning)])
        let records = try consumer.read(2)
        #expect(records[0].headers == headers)
        #expect(records[0].headers.text("h9999") == "9999")
        #expect(records[1].value == [7])
    }

    @Test
    func `every id comes back once with its outcome`() throws {
        let topic = try Local.topic()
        var producer = try Local.producer(["message.max.bytes": "2000"])
        for id in 1...100 as ClosedRange<UInt64> {
            try producer.produce(topic: topic, key: nil, value: [1, 2, 3], id: id)
        }
        try producer.produce(topic: topic, key: nil, value: [4])
        let tooLarge = #expect(throws: KafkaError.self) {
            try producer.produce(topic: topic, key: nil, value: [UInt8](repeating: 1, count: 3000), id: 101)
        }
        #expect(tooLarge?.isRecordTooLarge == true)
        try producer.flush(timeout: Local.patience)
        var deliveries: [Delivery] = []
        producer.takeDeliveries(into: &deliveries)
        #expect(deliveries.map(\.id) == Array(1...100))
        #expect(deliveries.first?.outcome == .written(partition: 0, offset: 0))
        #expect(deliveries.last?.outcome == .written(partition: 0, offset: 99))
        #expect(producer.deliveredCount == 101)
        #expect(producer.failedCount == 0)
    }

    @Test
    func `a record for a topic that is not there fails with its id`() throws {
        var producer = try Local.producer([
            "message.timeout.ms": "3000", "topic.metadata.propagation.max.ms": "0",
        ])
        try producer.produce(topic: uniqueName("nowhere"), key: nil, value: [1], id: 9)
        var deliveries: [Delivery] = []
        try eventually("the delivery fails") {
            producer.poll(timeout: .milliseconds(50))
            producer.takeDeliveries(into: &deliveries)
            return !deliveries.isEmpty
        }
        guard case .failed(let error, let isPossiblyWritten) = deliveries.first?.outcome else {
            Issue.record("\(deliveries)")
            return
        }
        #expect(error.isUnknownTopic || error.isTimeout, "\(error)")
        #expect(!isPossiblyWritten)
        #expect(producer.failedCount == 1)
    }
}
