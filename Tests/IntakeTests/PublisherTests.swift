import Intake
import Kafka
import LocalServices
import Push
import Support
import Testing

@Suite(.needsKafka) struct PublisherTests {
    private let now = Timestamp(milliseconds: 1_790_000_000_000)

    private func configuration() throws -> Kafka.Configuration {
        try Kafka.Configuration(["bootstrap.servers": KafkaService.shared().bootstrapServers])
    }

    private func topic(_ partitions: Int32 = 3) throws -> String {
        let name = uniqueName("publish")
        let admin = try Admin(configuration())
        let outcomes = try admin.createTopics(
            [TopicSpecification(name, partitions: partitions, configuration: ["max.message.bytes": "20000"])],
            timeout: .seconds(60)
        )
        if let error = outcomes.first?.error { throw error }
        return name
    }

    static func event(
        _ id: String,
        user: String = "A123456789",
        more: String = #","data":{"a":1}"#
    ) -> [UInt8] {
        Array(
            #"{"specversion":"1.0","id":"\#(id)","source":"/test","type":"example.news","subject":"\#(user)"\#(more)}"#
                .utf8
        )
    }

    private func finish(_ publisher: inout Publisher) throws {
        try eventually("all is settled") {
            publisher.settle(waiting: .milliseconds(50))
            return publisher.inFlight == 0
        }
    }

    @Test func `events arrive in binary mode, in order by user`() throws {
        let topic = try topic()
        var publisher = try Publisher(configuration(), topic: topic)
        for index in 0..<200 {
            let line = Self.event(
                "event-\(index)",
                user: "user-\(index % 5)",
                more: #","priority":"high","data":{"n":\#(index)}"#
            )
            try publisher.publish(line, number: index + 1, now: now)
        }
        try finish(&publisher)
        #expect(publisher.confirmed == 200)
        #expect(publisher.takeFailures().isEmpty)
        let records = try Self.records(configuration(), topic, partitions: 3, count: 200)
        for user in 0..<5 {
            let own = records.filter { $0.key == Array("user-\(user)".utf8) }
            #expect(own.compactMap { $0.headers.text("ce_id") } == (0..<40).map { "event-\($0 * 5 + user)" })
            #expect(Set(own.map(\.partition)).count == 1)
        }
        let first = records.first { $0.headers.text("ce_id") == "event-0" }
        #expect(first?.value == Array(#"{"n":0}"#.utf8))
        #expect(first?.headers.text("ce_priority") == "high")
        #expect(first?.headers.text("content-type") == nil)
    }

    @Test func `a bad line is named by its field and nothing of it is sent`() throws {
        let topic = try topic()
        var publisher = try Publisher(configuration(), topic: topic)
        try publisher.publish(Self.event("good"), number: 1, now: now)
        for (line, attribute) in [
            (Self.event("x", user: "no user!"), "subject"),
            (Self.event("x", more: #","priority":"urgent""#), "priority"),
            (Self.event("", more: ""), "id"), (Self.event("x", more: #","time":"yesterday""#), "time"),
        ] {
            do throws(PublishError) {
                try publisher.publish(line, number: 2, now: now)
                Issue.record("\(attribute) was accepted")
            } catch {
                guard case .event(let error) = error else { throw error }
                #expect(error.attribute == attribute)
            }
        }
        try finish(&publisher)
        #expect(publisher.confirmed == 1)
        #expect(try Self.records(configuration(), topic, partitions: 3, count: 1).count == 1)
    }

    @Test func `what the broker refuses is reported by line`() throws {
        let topic = try topic()
        var publisher = try Publisher(configuration().setting("compression.type", "none"), topic: topic)
        // An extension attribute that fits into a line but not into the topic.
        let large = Self.event("large", more: #","filler":"\#(String(repeating: "x", count: 30_000))""#)
        try publisher.publish(Self.event("one"), number: 1, now: now)
        try finish(&publisher)
        try publisher.publish(large, number: 2, now: now)
        try finish(&publisher)
        let failures = publisher.takeFailures()
        #expect(failures.map(\.number) == [2])
        #expect(failures.first?.error.isRecordTooLarge == true)
        #expect(publisher.confirmed == 1)
    }

    @Test func `a broker that is away makes every line fail in time`() throws {
        let away = Kafka.Configuration(["bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": "1000"])
        var publisher = try Publisher(away, topic: "push.triggers")
        for number in 1...3 { try publisher.publish(Self.event("event-\(number)"), number: number, now: now) }
        try finish(&publisher)
        let failures = publisher.takeFailures()
        #expect(failures.map(\.number).sorted() == [1, 2, 3])
        #expect(failures.allSatisfy { $0.error.isTimeout })
        #expect(publisher.confirmed == 0)
    }

    /// The first `count` records of a topic.
    static func records(
        _ configuration: Kafka.Configuration,
        _ topic: String,
        partitions: Int32,
        count: Int
    ) throws -> [Record] {
        var consumer = try Consumer(configuration.setting("group.id", uniqueName("reader")))
        try consumer.assign(
            (0..<partitions).map {
                TopicPartitionOffset(TopicPartition(topic, $0), offset: TopicPartitionOffset.beginning)
            }
        )
        var records: [Record] = []
        try eventually("\(count) records of \(topic)") {
            _ = try consumer.poll(into: &records, limit: 10_000, wait: .milliseconds(50))
            return records.count >= count
        }
        return records
    }
}
