import Glibc
import LocalServices
import Support

@testable import Kafka

/// A test cannot go on.
struct Unexpected: Error {
    let what: String

    init(_ what: String) {
        self.what = what
    }
}

/// Short names for what nearly every test does.
enum Local {
    static let patience = Duration.seconds(60)

    /// A topic of its own on the shared broker.
    static func topic(partitions: Int32 = 1, configuration: [String: String] = [:]) throws -> String {
        let name = uniqueName("topic")
        let admin = try Admin(settings())
        let outcomes = try admin.createTopics(
            [TopicSpecification(name, partitions: partitions, configuration: configuration)],
            timeout: patience
        )
        if let error = outcomes.first?.error { throw error }
        return name
    }

    static func settings() throws -> Configuration {
        Configuration(["bootstrap.servers": try KafkaService.shared().bootstrapServers])
    }

    static func consumer(group: String = uniqueName("group")) throws -> Consumer {
        try Consumer(settings().setting("group.id", group).setting("session.timeout.ms", "10000"))
    }

    static func producer(_ properties: [String: String] = [:]) throws -> Producer {
        var configuration = try settings()
        for (name, value) in properties { configuration.set(name, value) }
        return try Producer(configuration)
    }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}

extension Consumer {
    /// Polls until `count` records have come; events are gathered, and answered if they ask for it.
    mutating func read(_ count: Int, events: inout [ConsumerEvent]) throws -> [Record] {
        var records: [Record] = []
        let deadline = ContinuousClock.now + Local.patience
        while records.count < count {
            let news = try poll(into: &records, limit: 1000, wait: .milliseconds(100))
            events += news
            if isRebalancePending { try completeRebalance() }
            if ContinuousClock.now > deadline {
                throw Unexpected("only \(records.count) of \(count) records, \(events)")
            }
        }
        return records
    }

    mutating func read(_ count: Int) throws -> [Record] {
        var events: [ConsumerEvent] = []
        return try read(count, events: &events)
    }

    /// Polls once and answers what is to be answered.
    mutating func turn(
        into records: inout [Record],
        wait: Duration = .milliseconds(50)
    ) throws -> [ConsumerEvent] {
        let events = try poll(into: &records, limit: 1000, wait: wait)
        if isRebalancePending { try completeRebalance() }
        return events
    }
}
