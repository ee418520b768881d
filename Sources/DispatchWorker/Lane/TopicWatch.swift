internal import Kafka
internal import Lanes
internal import Push
internal import Telemetry

/// Looks after the topics that a lane writes to: whether they are there and keep every record, and how much waits in the retry topics.
///
/// With a client of its own: questions on a consumer's connection wait behind its long polls, and the lane would wait with them.
struct TopicWatch: ~Copyable {
    private let admin: Admin
    private let catalogue: TopicCatalogue
    private let names: TopicNames
    private let log: Log
    private var nextLook: Int64 = 0
    private var missing: Set<String> = []
    private var compacted: Set<String> = []
    /// Topics whose settings are in order.
    private var judged: Set<String> = []
    private let asksForSettings: Bool
    /// Retry topics of an earlier setting, which are read to their end.
    private(set) var leftOver: [String] = []
    /// Behind the newest record of retry partitions, by and by.
    private var ends: [TopicPartition: Int64] = [:]
    private var turn = 0
    private var nextQuestion: Int64 = 0

    init(_ settings: DispatchSettings, _ names: TopicNames, _ log: Log) throws(KafkaError) {
        admin = try Admin(settings.kafka)
        catalogue = settings.topics
        asksForSettings = settings.asksForTopicSettings
        self.names = names
        self.log = log
    }

    private var written: [String] { names.retries + [names.deadLetters] }

    // MARK: - Fitness

    /// Looks at the topics before the lane begins.
    ///
    /// - Returns: whether no topic is compacted, as far as can be found out: such a one loses records with the same key and refuses those
    ///   without, so that a lane had better not begin.
    mutating func areFit(_ health: inout LaneHealth) -> Bool {
        look(&health, within: .seconds(3))
        return compacted.isEmpty
    }

    /// Looks at the topics, if it is time to: often while something is wrong, else once a minute.
    mutating func lookIfDue(_ health: inout LaneHealth) {
        if Monotonic.now() >= nextLook { look(&health, within: .milliseconds(500)) }
    }

    private mutating func look(_ health: inout LaneHealth, within timeout: Duration) {
        do throws(KafkaError) {
            let known = try admin.topics(timeout: timeout).filter { !$0.partitions.isEmpty }.map(\.name)
            note(missing: Set(written).subtracting(known))
            leftOver = known.filter { catalogue.isRetry($0) && !names.retries.contains($0) }.sorted()
            for name in leftOver { log.warning("retry_topic_of_another_setting", ["topic": .text(name)]) }
            try lookAtSettings(known, within: timeout)
        } catch {
            log.warning("topics_unknown", ["error": .description(of: error)])
        }
        health.set(.writtenTopicMissing, !missing.isEmpty)
        health.set(.topicCompacted, !compacted.isEmpty)
        let isWell = missing.isEmpty && compacted.isEmpty
        nextLook = Monotonic.deadline(after: isWell ? .seconds(60) : .seconds(2))
    }

    private mutating func note(missing gone: Set<String>) {
        for name in gone.subtracting(missing).sorted() { log.error("topic_missing", ["topic": .text(name)]) }
        for name in missing.subtracting(gone).sorted() { log.info("topic_found", ["topic": .text(name)]) }
        // What comes back may be another topic than before.
        judged.subtract(gone)
        missing = gone
    }

    /// Asks for the settings of topics that are there and have not been found in order yet.
    private mutating func lookAtSettings(_ known: [String], within timeout: Duration) throws(KafkaError) {
        guard asksForSettings else { return }
        let topics = (written + [names.notifications]).filter { known.contains($0) && !judged.contains($0) }
        let settings = try admin.settings(ofTopics: topics, timeout: timeout)
        for topic in topics {
            guard let policy = settings[topic]?["cleanup.policy"]?.value else { continue }
            if policy.split(separator: ",").contains("compact") {
                compacted.insert(topic)
                log.error("topic_compacted", ["topic": .text(topic)])
            } else {
                compacted.remove(topic)
                judged.insert(topic)
            }
        }
        compacted.formIntersection(topics)
    }

    // MARK: - Backlog

    /// How many records wait in these partitions, as far as is known; `read` is how far each was read.
    ///
    /// A paused partition is not fetched from, so that nobody tells of its new records. Two a second are asked for.
    mutating func backlog(_ places: [TopicPartition], read: [TopicPartition: Int64]) -> Int {
        let now = Monotonic.now()
        if now >= nextQuestion, !places.isEmpty {
            let sorted = places.sorted { ($0.topic, $0.partition) < ($1.topic, $1.partition) }
            ends = ends.filter { places.contains($0.key) }
            for _ in 0..<min(2, sorted.count) {
                turn = (turn + 1) % sorted.count
                do throws(KafkaError) {
                    ends[sorted[turn]] = try admin.watermarks(sorted[turn], timeout: .milliseconds(100)).high
                } catch {
                    nextQuestion = now + 30_000_000_000
                    break
                }
            }
        }
        return places.reduce(0) { sum, place in
            guard let end = ends[place], let position = read[place] else { return sum }
            return sum + Int(max(end - position, 0))
        }
    }
}
