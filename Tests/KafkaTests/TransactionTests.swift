import Support
import Testing

@testable import Kafka

@Suite(.needsKafka)
struct TransactionTests {
    private func transactional(_ id: String) throws -> Producer {
        var producer = try Local.producer(["transactional.id": id])
        try retrying { try producer.initTransactions(timeout: Local.patience) }
        return producer
    }

    /// A first call may find the coordinator still loading.
    private func retrying(_ body: () throws -> Void) throws {
        try eventually("a retriable call succeeds") {
            do {
                try body()
                return true
            } catch let error as KafkaError where error.isRetriable {
                return false
            }
        }
    }

    @Test
    func `what was aborted is not read, and what was committed is`() throws {
        let topic = try Local.topic()
        var producer = try transactional(uniqueName("id"))
        try producer.beginTransaction()
        try producer.produce(topic: topic, key: nil, value: Local.bytes("aborted"))
        try producer.flush(timeout: Local.patience)
        try producer.abortTransaction(timeout: Local.patience)
        try producer.beginTransaction()
        try producer.produce(topic: topic, key: nil, value: Local.bytes("committed"))
        try producer.commitTransaction(timeout: Local.patience)

        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(topic, 0, offset: TopicPartitionOffset.beginning)])
        #expect(try consumer.read(1).map(\.value) == [Local.bytes("committed")])

        // The aborted one is there for those who ask for it: the test would notice if it had never been written.
        var uncommitted = try Consumer(
            Local.settings().setting("group.id", uniqueName("group"))
                .setting("isolation.level", "read_uncommitted")
        )
        try uncommitted.assign([TopicPartitionOffset(topic, 0, offset: TopicPartitionOffset.beginning)])
        #expect(try uncommitted.read(2).map(\.value) == [Local.bytes("aborted"), Local.bytes("committed")])
    }

    @Test
    func `offsets go with the transaction, and only with it`() throws {
        let (source, target, group) = (try Local.topic(), try Local.topic(), uniqueName("group"))
        var plain = try Local.producer()
        for value in 0..<10 as Range<UInt8> { try plain.produce(topic: source, key: nil, value: [value]) }
        try plain.flush(timeout: Local.patience)

        var consumer = try Local.consumer(group: group)
        try consumer.subscribe([source])
        let records = try consumer.read(10)
        let place = TopicPartition(source, 0)
        let offsets = [TopicPartitionOffset(place, offset: 10)]
        var producer = try transactional(uniqueName("id"))

        try producer.beginTransaction()
        for record in records { try producer.produce(topic: target, key: record.key, value: record.value) }
        try producer.sendOffsets(offsets, group: consumer.groupMetadata(), timeout: Local.patience)
        try producer.abortTransaction(timeout: Local.patience)
        #expect(try consumer.committed([place], timeout: Local.patience) == [:])

        try consumer.seek(to: [TopicPartitionOffset(place, offset: 0)], timeout: Local.patience)
        let again = try consumer.read(10)
        #expect(again == records)
        try producer.beginTransaction()
        for record in again { try producer.produce(topic: target, key: record.key, value: record.value) }
        try producer.sendOffsets(offsets, group: consumer.groupMetadata(), timeout: Local.patience)
        try producer.commitTransaction(timeout: Local.patience)
        #expect(try consumer.committed([place], timeout: Local.patience) == [place: 10])

        var reader = try Local.consumer()
        try reader.assign([TopicPartitionOffset(target, 0, offset: TopicPartitionOffset.beginning)])
        var copies = try reader.read(10)
        // Nothing more follows: behind the last copy there is only the commit's own mark.
        _ = try reader.poll(into: &copies, limit: 100, wait: .milliseconds(300))
        #expect(copies.map(\.value) == records.map(\.value))
    }

    @Test
    func `a second producer with the same id fences the first`() throws {
        let (topic, id) = (try Local.topic(), uniqueName("id"))
        var first = try transactional(id)
        try first.beginTransaction()
        try first.produce(topic: topic, key: nil, value: [1])
        try first.flush(timeout: Local.patience)
        var second = try transactional(id)

        let error = #expect(throws: KafkaError.self) { try first.commitTransaction(timeout: Local.patience) }
        #expect(error?.isFenced == true)
        #expect(error?.isFatal == true)
        #expect(error?.isRetriable == false)
        #expect(first.fatalError?.isFenced == true)

        try second.beginTransaction()
        try second.produce(topic: topic, key: nil, value: [2])
        try second.commitTransaction(timeout: Local.patience)
        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(topic, 0, offset: TopicPartitionOffset.beginning)])
        #expect(try consumer.read(1).map(\.value) == [[2]])
    }

    @Test
    func `a member that the group has moved on from cannot send offsets`() throws {
        let (topic, group) = (try Local.topic(), uniqueName("group"))
        var consumer = try Local.consumer(group: group)
        try consumer.subscribe([topic])
        var records: [Record] = []
        try eventually("the consumer has its partition") {
            _ = try consumer.turn(into: &records)
            return try !consumer.assignment().isEmpty
        }
        let stale = try consumer.groupMetadata()
        consumer.close()

        var producer = try transactional(uniqueName("id"))
        try producer.beginTransaction()
        try producer.produce(topic: topic, key: nil, value: [1])
        let error = #expect(throws: KafkaError.self) {
            try producer.sendOffsets(
                [TopicPartitionOffset(topic, 0, offset: 1)],
                group: stale,
                timeout: Local.patience
            )
        }
        #expect(error?.requiresAbort == true)
        try producer.abortTransaction(timeout: Local.patience)
    }
}
