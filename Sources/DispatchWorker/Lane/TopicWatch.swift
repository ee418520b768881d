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
    private let log: Log
    private var nextLook: Int64 = 0
    private var missing: Set<String> = []
    /// Retry topics of an earlier setting, which are read to their end.
    private(set) var leftOver: [String] = []
    /// Behind the newest record of retry partitions, by and by.
    private var ends: [TopicPartition: Int64] = [:]
    private var turn = 0
    private var nextQuestion: Int64 = 0

    init(_ kafka: Kafka.Configuration, _ catalogue: TopicCatalogue, _ log: Log) throws(KafkaError) {
        admin = try Admin(kafka)
        self.catalogue = catalogue
        self.log = log
    }

    private var written: [String] { catalogue.retries + [catalogue.notificationDeadLetters] }

    // MARK: - At the start

    /// Whether no topic is compacted: such a one loses records with the same key and refuses those without.
    ///
    /// What cannot be found out keeps nothing from starting.
    mutating func areFit(_ health: inout LaneHealth) -> Bool {
        look(&health, within: .seconds(5))
        var compacted: [String] = []
        do throws(KafkaError) {
            let names = [catalogue.notifications] + written.filter { !missing.contains($0) }
            let settings = try admin.settings(ofTopics: names, timeout: .seconds(5))
            compacted = names.filter { name in
                (settings[name]?["cleanup.policy"]?.value ?? "").split(separator: ",").contains("compact")
            }
        } catch {
            log.warning("topic_settings_unknown", ["error": .description(of: error)])
        }
        health.set(.topicCompacted, !compacted.isEmpty)
        for name in compacted { log.error("topic_compacted", ["topic": .text(name)]) }
        return compacted.isEmpty
    }

    // MARK: - While it runs

    /// Looks whether the topics are there, if it is time to: often while one is missing, else once a minute.
    mutating func lookIfDue(_ health: inout LaneHealth) {
        if Monotonic.now() >= nextLook { look(&health, within: .milliseconds(500)) }
    }

    private mutating func look(_ health: inout LaneHealth, within timeout: Duration) {
        do throws(KafkaError) {
            let names = Set(try admin.topics(timeout: timeout).filter { !$0.partitions.isEmpty }.map(\.name))
            let gone = Set(written).subtracting(names)
            for name in gone.subtracting(missing).sorted() {
                log.error("topic_missing", ["topic": .text(name)])
            }
            for name in missing.subtracting(gone).sorted() {
                log.info("topic_found", ["topic": .text(name)])
            }
            missing = gone
            leftOver = names.filter { catalogue.isRetry($0) && !catalogue.retries.contains($0) }.sorted()
            for name in leftOver { log.warning("retry_topic_of_another_setting", ["topic": .text(name)]) }
            health.set(.writtenTopicMissing, !missing.isEmpty)
        } catch {
            log.debug("topics_unknown", ["error": .description(of: error)])
        }
        nextLook = Monotonic.deadline(after: missing.isEmpty ? .seconds(60) : .seconds(2))
    }

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
