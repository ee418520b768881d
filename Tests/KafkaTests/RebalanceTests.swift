import Support
import Testing

@testable import Kafka

@Suite(.needsKafka)
struct RebalanceTests {
    private func fill(_ topic: String, partitions: Int32, each: Int) throws {
        var producer = try Local.producer()
        for partition in 0..<partitions {
            for index in 0..<each {
                try producer.produce(
                    topic: topic,
                    partition: partition,
                    key: nil,
                    value: Local.bytes("\(index)")
                )
            }
        }
        try producer.flush(timeout: Local.patience)
    }

    /// What a consumer may ever have been given.
    private func places(_ events: [ConsumerEvent]) -> (assigned: [TopicPartition], revoked: [TopicPartition])
    {
        var (assigned, revoked): ([TopicPartition], [TopicPartition]) = ([], [])
        for event in events {
            switch event {
            case .assigned(let places): assigned += places
            case .revoked(let places): revoked += places
            case .lost, .failed: break
            }
        }
        return (assigned, revoked)
    }

    @Test
    func `a second member takes over at what the first committed while it was revoked`() throws {
        let (topic, group) = (try Local.topic(partitions: 4), uniqueName("group"))
        try fill(topic, partitions: 4, each: 50)
        var first = try Local.consumer(group: group)
        try first.subscribe([topic])
        var events: [ConsumerEvent] = []
        var seen = try first.read(100, events: &events)
        #expect(places(events).assigned.count == 4)

        // The first one keeps polling, answers its revocation with a commit, and gets its share.
        var second = try Local.consumer(group: group)
        try second.subscribe([topic])
        var (secondSeen, secondEvents): ([Record], [ConsumerEvent]) = ([], [])
        var wasRevoked = false
        try eventually("both have two partitions") {
            let before = seen.count
            let news = try first.poll(into: &seen, limit: 10, wait: .milliseconds(20))
            if first.isRebalancePending {
                wasRevoked = true
                #expect(places(news).revoked.count == 4)
                #expect(seen.count == before, "no record comes with a revocation")
                // Polling on while the answer is pending gives nothing.
                _ = try first.poll(into: &seen, limit: 10, wait: .milliseconds(200))
                #expect(seen.count == before)
                try first.commit(nextOffsets(seen), timeout: Local.patience)
                try first.completeRebalance()
            }
            secondEvents += try second.turn(into: &secondSeen)
            return try wasRevoked && first.assignment().count == 2 && second.assignment().count == 2
        }
        try eventually("everything is read") {
            _ = try first.turn(into: &seen)
            secondEvents += try second.turn(into: &secondSeen)
            return seen.count + secondSeen.count >= 200
        }
        // Nothing twice: the commit in the revocation was honoured by both.
        let all = (seen + secondSeen).map { "\($0.place)@\($0.offset)" }
        #expect(all.count == 200)
        #expect(Set(all).count == 200)
        #expect(places(secondEvents).assigned.count == 2)
    }

    private func nextOffsets(_ records: [Record]) -> [TopicPartitionOffset] {
        var next: [TopicPartition: Int64] = [:]
        for record in records { next[record.place] = max(next[record.place] ?? 0, record.offset + 1) }
        return next.map { TopicPartitionOffset($0.key, offset: $0.value) }
    }

    @Test
    func `a pause ends with the assignment, and so does a position: partitions that come back are read`()
        throws
    {
        let (topic, group) = (try Local.topic(partitions: 2), uniqueName("group"))
        try fill(topic, partitions: 2, each: 3)
        var first = try Local.consumer(group: group)
        try first.subscribe([topic])
        #expect(try first.read(6).count == 6)
        try first.pause(first.assignment())

        var second = try Local.consumer(group: group)
        try second.subscribe([topic])
        var records: [Record] = []
        try eventually("both have one partition") {
            _ = try first.turn(into: &records)
            _ = try second.turn(into: &records)
            return try first.assignment().count == 1 && second.assignment().count == 1
        }
        second.close()
        // Nothing was committed, so that both begin anew.
        var again: [Record] = []
        try eventually("the first has both again and reads them") {
            let events = try first.turn(into: &again)
            if again.isEmpty, places(events).assigned.count == 2 {
                // Who commits positions would skip what was handed out before and not committed.
                #expect(try first.position(first.assignment()).isEmpty)
            }
            return Set(again.map(\.partition)) == [0, 1]
        }
    }

    @Test
    func `a member that leaves hands over at once`() throws {
        let (topic, group) = (try Local.topic(), uniqueName("group"))
        try fill(topic, partitions: 1, each: 3)
        var first = try Local.consumer(group: group)
        try first.subscribe([topic])
        #expect(try first.read(3).count == 3)
        try first.commit([TopicPartitionOffset(topic, 0, offset: 2)], timeout: Local.patience)
        let hasLeft = first.close()
        #expect(hasLeft)

        let clock = ContinuousClock.now
        var second = try Local.consumer(group: group)
        try second.subscribe([topic])
        #expect(try second.read(1).map(\.offset) == [2])
        #expect(ContinuousClock.now - clock < .seconds(9), "the session of the first was not waited for")
    }

    private func impatient(_ group: String) throws -> Consumer {
        try Consumer(
            Local.settings().setting("group.id", group).setting("session.timeout.ms", "6000")
                .setting("max.poll.interval.ms", "6000")
        )
    }

    @Test
    func `a member that does not poll loses its partitions, learns of it, and joins again`() throws {
        let topic = try Local.topic()
        try fill(topic, partitions: 1, each: 3)
        var consumer = try impatient(uniqueName("group"))
        try consumer.subscribe([topic])
        #expect(try consumer.read(3).count == 3)
        let place = TopicPartition(topic, 0)

        try eventually("librdkafka has left the group") { consumer.isAssignmentLost }
        var (records, events): ([Record], [ConsumerEvent]) = ([], [])
        try eventually("the loss is told") {
            events += try consumer.poll(into: &records, limit: 10, wait: .milliseconds(50))
            return consumer.isRebalancePending
        }
        #expect(events.contains(.lost([place])), "\(events)")
        #expect(records.isEmpty)
        try consumer.completeRebalance()
        // Nothing was committed, so everything comes again.
        #expect(try consumer.read(3).map(\.offset) == [0, 1, 2])
        #expect(try consumer.assignment() == [place])
    }

    @Test
    func `a member that the group would not wait for cannot commit`() throws {
        let (topic, group) = (try Local.topic(), uniqueName("group"))
        try fill(topic, partitions: 1, each: 3)
        var consumer = try impatient(group)
        try consumer.subscribe([topic])
        #expect(try consumer.read(3).count == 3)
        let place = TopicPartition(topic, 0)

        // Another member asks for a rebalance, nobody polls here, and the group goes on without it.
        var other = try Local.consumer(group: group)
        try other.subscribe([topic])
        var records: [Record] = []
        try eventually("the other has the partition") {
            _ = try other.turn(into: &records)
            return try other.assignment() == [place]
        }
        records = []
        try eventually("the revocation or the loss is told") {
            _ = try consumer.poll(into: &records, limit: 10, wait: .milliseconds(50))
            return consumer.isRebalancePending
        }
        #expect(records.isEmpty)
        let error = #expect(throws: KafkaError.self) {
            try consumer.commit([TopicPartitionOffset(place, offset: 3)], timeout: Local.patience)
        }
        #expect(error?.isStaleMember == true, "\(String(describing: error))")
        #expect(error?.isRetriable == false)
        try consumer.completeRebalance()
        other.close()
        try eventually("it is a member again") {
            _ = try consumer.turn(into: &records)
            return try consumer.assignment() == [place]
        }
    }
}
