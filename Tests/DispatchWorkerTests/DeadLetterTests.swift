import DispatchWorker
import Kafka
import Lanes
import Push
import Simulation
import Support
import Testing

@Suite struct `Dispatch writes down` {
    /// Settings with which a missing topic is found out soon.
    private func impatient(_ fixture: Fixture) throws -> DispatchSettings {
        var settings = try fixture.settings()
        settings.kafka.set("topic.metadata.propagation.max.ms", "200")
        settings.kafka.set("topic.metadata.refresh.interval.ms", "500")
        return settings
    }

    @Test(.needsKafka)
    func `D3: nothing without a topic for dead letters; commits and readiness wait, and nothing is lost`()
        throws
    {
        let fixture = try Fixture(deadLetters: false)
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let poison = Draft(0, at: gateway.origin).record.replacing("app", nil)
        try fixture.publish([poison] + (1..<10).map { Draft($0, at: gateway.origin).record })
        try fixture.running(try impatient(fixture)) { lanes in
            try eventually("the topic is missed before anything is written") {
                lanes.statuses[0].condition == .notReady(reason: "dead_letter_topic_missing")
            }
            try eventually("the write fails") { fixture.metric("posthorn_dispatch_unwritable") == 1 }
            try eventually("the others are delivered") { gateway.counts.count == 9 }
            #expect(try fixture.committed().isEmpty)
            try fixture.createTopics([fixture.topics.notificationDeadLetters])
            try fixture.untilDone()
            try eventually("the lane is ready again") { lanes.statuses[0].condition == .ready }
            #expect(fixture.metric("posthorn_dispatch_unwritable") == 0)
        }
        #expect(try fixture.reasons() == ["malformed_notification"])
        #expect(gateway.counts.values.allSatisfy { $0 == 1 })
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `D3: nothing while the topic for dead letters is deleted, over a restart`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let settings = try impatient(fixture)
        let letters = fixture.topics.notificationDeadLetters
        func poison(_ number: Int) -> RawRecord {
            Draft(number, at: gateway.origin).record.replacing("app", nil)
        }
        try fixture.running(settings) { lanes in
            try fixture.publish([poison(0)])
            try fixture.untilDone()
            let outcomes = try Admin(fixture.kafka).deleteTopics([letters], timeout: .seconds(60))
            #expect(outcomes.allSatisfy { $0.error == nil })
            try fixture.publish([poison(1), Draft(2, at: gateway.origin).record])
            try eventually("the lane says that it is not ready") { lanes.statuses[0].condition != .ready }
            try eventually("the sound one is delivered") { gateway.counts.count == 1 }
            #expect(try fixture.lag() == 2)
        }
        try fixture.createTopics([letters])
        try fixture.drain(settings)
        #expect(try fixture.reasons() == ["malformed_notification"])
        #expect(try fixture.deadLetters().first?.headers.text("x-original-offset") == "1")
    }

    @Test(.needsKafka)
    func `K14: nothing by way of a compacted topic; it says so and waits until that is mended`() throws {
        let fixture = try Fixture(deadLetters: false)
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let letters = fixture.topics.notificationDeadLetters
        try fixture.createTopics([letters], configuration: ["cleanup.policy": "compact"])
        let admin = try Admin(fixture.kafka)
        try eventually("the broker shows the topic") {
            try admin.topics(timeout: .seconds(30)).contains { $0.name == letters }
        }
        try fixture.publish([RawRecord(key: nil, value: nil), Draft(1, at: gateway.origin).record])
        try fixture.running { lanes in
            try eventually("the lane says what is wrong") {
                lanes.statuses[0].condition == .notReady(reason: "topic_compacted")
            }
            #expect(gateway.items.isEmpty)
            _ = try Admin(fixture.kafka).deleteTopics([letters], timeout: .seconds(60))
            try eventually("the topic can be made anew") {
                (try? fixture.createTopics([letters])) != nil
            }
            try fixture.untilDone()
        }
        #expect(try fixture.reasons() == ["tombstone"])
        #expect(gateway.counts.count == 1)
    }

    @Test(.needsKafka)
    func `dead letters and retries into fewer partitions than the source has`() throws {
        let fixture = try Fixture(partitions: 6, deadLetters: false)
        let gateway = try TestGateway { _ in .regular }
        try fixture.allow(gateway.origin)
        try fixture.createTopics([fixture.topics.notificationDeadLetters], partitions: 1)
        let drafts = (0..<60).map { Draft($0, at: gateway.origin) }
        try fixture.publish(drafts.map { $0.record.replacing("app", nil) })
        try fixture.drain(lanes: 2)
        let letters = try fixture.records(on: fixture.topics.notificationDeadLetters, partitions: 1)
        #expect(letters.count == 60)
        let origins = Set(letters.compactMap { $0.headers.text("x-original-partition") })
        #expect(origins.count > 1)
    }

    @Test(.needsKafka)
    func `D1: fifty cycles of failure and replay with headers that do not grow, the first failure kept`()
        throws
    {
        let fixture = try Fixture()
        let gateway = try TestGateway { _ in .doing(.respond(status: 400, body: "{}")) }
        try fixture.allow(gateway.origin)
        let draft = Draft(0, at: gateway.origin)
        try fixture.publish([draft])
        var sizes: [Int] = []
        var firstFailures: Set<String> = []
        var reader = try Consumer(fixture.kafka.setting("group.id", uniqueName("reader")))
        let letters = TopicPartition(fixture.topics.notificationDeadLetters, 0)
        try reader.assign([TopicPartitionOffset(letters, offset: TopicPartitionOffset.beginning)])
        var last: Record?
        try fixture.running { _ in
            for cycle in 1...50 {
                var found: [Record] = []
                try eventually("the dead letter is there") {
                    _ = try reader.poll(into: &found, limit: 100, wait: .milliseconds(50))
                    return !found.isEmpty
                }
                #expect(found.count == 1)
                let letter = try #require(found.first)
                last = letter
                sizes.append(letter.headers.byteCount)
                firstFailures.insert(letter.headers.text("x-dlq-first-failed-at") ?? "none")
                #expect(letter.headers.text("x-original-offset") == "0")
                guard cycle < 50 else { break }
                try fixture.publish([
                    RawRecord(key: letter.key, value: letter.value, headers: letter.headers)
                ])
            }
            try fixture.untilDone()
        }
        // The number of attempts has a digit more.
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 2)
        #expect(firstFailures.count == 1)
        #expect(last?.value == draft.record.value)
        #expect(last?.headers.text("x-dlq-attempts") == "50")
    }

    @Test(.needsKafka)
    func `dead letters in Spring's names too where that is set, never twice, and retries without`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway {
            $0.batch == 1 ? .status(503) : .doing(.respond(status: 400, body: "{}"))
        }
        try fixture.allow(gateway.origin)
        var settings = try fixture.settings()
        settings.deadLetterNaming = .spring
        try fixture.publish([Draft(0, at: gateway.origin)], registering: true)
        try fixture.running(settings) { _ in
            for cycle in 1...3 {
                try fixture.untilDone()
                let letters = try fixture.deadLetters()
                #expect(letters.count == cycle)
                let letter = try #require(letters.last)
                #expect(letter.headers.text("kafka_dlt-original-topic") == fixture.topics.notifications)
                #expect(letter.headers.text("kafka_dlt-exception-fqcn") == "posthorn.message_refused")
                #expect(letter.headers.value("kafka_dlt-original-partition") == [0, 0, 0, 0])
                let names = letter.headers.map(\.name)
                #expect(Set(names).count == names.count)
                if cycle < 3 {
                    try fixture.publish([
                        RawRecord(key: letter.key, value: letter.value, headers: letter.headers)
                    ])
                }
            }
        }
        let retries = try fixture.records(on: fixture.topics.retries[0])
        #expect(retries.count == 1)
        #expect(retries.allSatisfy { $0.headers.value("kafka_dlt-original-topic") == nil })
    }
}
