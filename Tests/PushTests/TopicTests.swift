import Testing

@testable import Push

struct TopicTests {
    @Test func `all topics are in the catalogue, under one prefix`() {
        let names = TopicCatalogue().topics().map(\.name)
        #expect(
            names == [
                "push.triggers", "push.triggers.dlq", "push.notifications", "push.notifications.retry.30s",
                "push.notifications.retry.2m", "push.notifications.retry.8m", "push.notifications.retry.30m",
                "push.notifications.retry.2h", "push.notifications.dlq", "push.notifications.parking",
            ]
        )
        #expect(TopicCatalogue(prefix: "demo-7.").topics().map(\.name) == names.map { "demo-7." + $0 })
        #expect(Set(names).count == names.count)
    }

    @Test func `dead letters have fewer partitions and more room`() throws {
        for partitions in [1, 2, 12, 96] {
            let topics = TopicCatalogue().topics(partitions: partitions)
            let byName = Dictionary(uniqueKeysWithValues: topics.map { ($0.name, $0) })
            #expect(byName["push.triggers"]?.partitions == partitions)
            #expect(byName["push.notifications.retry.2h"]?.partitions == partitions)
            #expect(byName["push.triggers.dlq"]?.partitions == min(partitions, 3))
            let room = try #require(
                byName["push.triggers"]?.settings["max.message.bytes"].flatMap { Int($0) }
            )
            let dead = try #require(
                byName["push.triggers.dlq"]?.settings["max.message.bytes"].flatMap { Int($0) }
            )
            #expect(dead >= room + 16 * 1024)
            // What clients put into one batch by default, which the broker takes for one message.
            #expect(topics.allSatisfy { Int($0.settings["max.message.bytes"] ?? "0")! > 1_000_000 })
        }
        #expect(TopicCatalogue().topics(partitions: 0).allSatisfy { $0.partitions == 1 })
    }

    @Test func `plaintext is kept for days, and no topic is compacted`() {
        for topic in TopicCatalogue().topics() {
            #expect(topic.settings["cleanup.policy"] == "delete")
            #expect(topic.settings["min.insync.replicas"] == nil)
            let days = (topic.settings["retention.ms"].flatMap { Int($0) } ?? 0) / 86_400_000
            if topic.name.hasPrefix("push.triggers") {
                #expect((1...3).contains(days))
            } else {
                #expect((2...30).contains(days))
            }
        }
    }

    @Test(arguments: [(30, "30s"), (90, "90s"), (120, "2m"), (7200, "2h"), (3660, "61m"), (0, "0s")])
    func `a delay is named in its largest unit`(seconds: Int, name: String) {
        #expect(
            TopicCatalogue(retryDelays: [.seconds(seconds)]).retries == ["push.notifications.retry." + name]
        )
    }

    @Test func `a delay below a second has a name of its own, and topics of other delays are known as such`()
    {
        let topics = TopicCatalogue(prefix: "a.", retryDelays: [.milliseconds(250), .milliseconds(1500)])
        #expect(topics.retries == ["a.push.notifications.retry.250ms", "a.push.notifications.retry.1500ms"])
        #expect(topics.isRetry("a.push.notifications.retry.30s"))
        #expect(!topics.isRetry("push.notifications.retry.30s") && !topics.isRetry(topics.parking))
    }
}
