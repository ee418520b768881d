import Kafka
import Push
import Support
import Synchronization

/// Looks at what the dispatch groups have committed, again and again, from a thread of its own.
///
/// What it holds against them: an offset that goes back, or one that is past the end of its partition.
final class OffsetWatch {
    /// What it has seen.
    struct Sightings: Sendable {
        var looks = 0
        /// Different commits seen, over all partitions.
        var steps = 0
        var faults: [String] = []
    }

    private let isOver: Flag
    private let work: Background<Sightings>

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    /// Begins to look; topics and groups are those of an installation.
    init(_ installation: Installation) throws {
        let servers = installation.environment["POSTHORN_KAFKA_BOOTSTRAP_SERVERS"] ?? ""
        let topics = installation.topics
        let live = try installation.witness.places(of: topics.notifications)
        let retries = try topics.retries.flatMap { try installation.witness.places(of: $0) }
        let flag = Flag()
        isOver = flag
        work = Background {
            var sightings = Sightings()
            do throws(KafkaError) {
                let groups = [(topics.dispatchGroup, live), (topics.retryGroup, retries)]
                var seen: [TopicPartition: Int64] = [:]
                while !flag.isSet.withLock({ $0 }) {
                    for (group, places) in groups {
                        try Self.look(group, places, servers, &seen, &sightings)
                    }
                }
            } catch {
                sightings.faults.append("\(error)")
            }
            return sightings
        }
    }

    deinit { isOver.isSet.withLock { $0 = true } }

    /// Ends it.
    func end() throws -> Sightings {
        isOver.isSet.withLock { $0 = true }
        return try work.value()
    }

    /// The end is asked for after the commits, so that it can only be further.
    private static func look(
        _ group: String,
        _ places: [TopicPartition],
        _ servers: String,
        _ seen: inout [TopicPartition: Int64],
        _ sightings: inout Sightings
    ) throws(KafkaError) {
        let reader = try Consumer(
            Kafka.Configuration(["bootstrap.servers": servers]).setting("group.id", group)
        )
        let committed: [TopicPartition: Int64]
        do throws(KafkaError) {
            committed = try reader.committed(places, timeout: .seconds(10))
        } catch {
            // A group that rebalances is not always answered for.
            guard error.isRetriable || error.isTimeout else { throw error }
            return
        }
        sightings.looks += 1
        for (place, offset) in committed {
            let before = seen.updateValue(offset, forKey: place) ?? 0
            guard offset != before else { continue }
            sightings.steps += 1
            if offset < before { sightings.faults.append("\(place) went back from \(before) to \(offset)") }
            let end = try reader.watermarks(place, timeout: .seconds(30)).high
            if offset > end { sightings.faults.append("\(place) is at \(offset), its end at \(end)") }
        }
    }
}
