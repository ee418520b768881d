package import Kafka

/// Looks at what is in a broker from outside of everything that is tested: a member of no group.
///
/// A new topic or group has no leader for a moment, and a broker that comes back needs one; every question is then asked again.
package final class KafkaWitness {
    private let kafka: Kafka.Configuration
    private let admin: Admin

    package init(_ bootstrapServers: String) throws {
        kafka = Kafka.Configuration(["bootstrap.servers": bootstrapServers])
        admin = try Admin(kafka)
    }

    /// Everything on `topic` that a `read_committed` reader sees now, partition by partition in order.
    package func records(on topic: String) throws -> [Record] {
        let places = try places(of: topic)
        let ends = try highs(of: places)
        var consumer = try Consumer(kafka.setting("group.id", uniqueName("witness")))
        try consumer.assign(places.map { TopicPartitionOffset($0, offset: TopicPartitionOffset.beginning) })
        var records: [Record] = []
        var reached: [TopicPartition: Int64] = [:]
        try eventually("\(topic) is read to its end") {
            let start = records.count
            _ = try consumer.poll(into: &records, limit: 10_000, wait: .milliseconds(50))
            for record in records[start...] { reached[record.place] = record.offset + 1 }
            // A partition can end in markers of transactions, which nobody is handed.
            let positions = try consumer.position(places)
            return places.allSatisfy { place in
                let end = ends[place] ?? 0
                return end == 0 || max(positions[place] ?? 0, reached[place] ?? 0) >= end
            }
        }
        return records
    }

    /// How many offsets of `topic` the group has left behind it, in all partitions together.
    package func progress(of group: String, on topic: String) throws -> Int64 {
        try committed(group, places(of: topic)).values.reduce(0, +)
    }

    /// How many offsets of `topic` the group has before it, in all partitions together.
    package func lag(of group: String, on topic: String) throws -> Int64 {
        let places = try places(of: topic)
        let committed = try committed(group, places)
        let ends = try highs(of: places)
        return places.reduce(0) { $0 + (ends[$1] ?? 0) - (committed[$1] ?? 0) }
    }

    /// Where the group would go on reading `topic`; partitions without a commit are missing.
    package func committed(by group: String, on topic: String) throws -> [TopicPartition: Int64] {
        try committed(group, places(of: topic))
    }

    package func places(of topic: String) throws -> [TopicPartition] {
        var places: [TopicPartition] = []
        try answered("the broker shows \(topic)") { () throws(KafkaError) in
            let found = try admin.topics(timeout: .seconds(10)).first { $0.name == topic }
            places = found?.partitions.map { TopicPartition(topic, $0.id) } ?? []
            return !places.isEmpty
        }
        return places
    }

    private func highs(of places: [TopicPartition]) throws -> [TopicPartition: Int64] {
        var highs: [TopicPartition: Int64] = [:]
        try answered("the broker tells where partitions end") { () throws(KafkaError) in
            for place in places { highs[place] = try admin.watermarks(place, timeout: .seconds(10)).high }
            return true
        }
        return highs
    }

    private func committed(
        _ group: String,
        _ places: [TopicPartition]
    ) throws -> [TopicPartition: Int64] {
        var offsets: [TopicPartition: Int64] = [:]
        try answered("the broker tells what \(group) has committed") { () throws(KafkaError) in
            offsets = try admin.committedOffsets(ofGroup: group, places: places, timeout: .seconds(10))
            return true
        }
        return offsets
    }

    private func answered(_ what: String, _ question: () throws(KafkaError) -> Bool) throws {
        try eventually(what) {
            do throws(KafkaError) {
                return try question()
            } catch {
                guard error.isRetriable || error.isTimeout || Self.passing.contains(error.code) else {
                    throw error
                }
                return false
            }
        }
    }

    /// NOT_LEADER_FOR_PARTITION, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, UNKNOWN_TOPIC_OR_PART,
    /// UNSTABLE_OFFSET_COMMIT, and librdkafka's own for a broker that is away.
    private static let passing: Set<Int32> = [3, 6, 14, 15, 16, 88, -185, -187, -195]
}
