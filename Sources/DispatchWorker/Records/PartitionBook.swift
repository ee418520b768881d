internal import Kafka
internal import Push

/// The partitions of a lane: by Kafka's names and by the engine's, and which of them are not read now.
///
/// Pausing a partition in librdkafka throws away what it has fetched ahead. So when the engine is full for a moment nothing is paused: the
/// lane just does not poll. Only when that lasts are the partitions paused, because polling must go on.
struct PartitionBook {
    private var engines: [TopicPartition: Partition] = [:]
    private var places: [Partition: TopicPartition] = [:]
    private var last: (topic: String, partition: Int32, engine: Partition)?
    /// Those that the engine does not want to be read.
    private var unwanted: Set<TopicPartition> = []
    /// Those of which enough has been read for now.
    private var held: Set<TopicPartition> = []
    /// Those that librdkafka was told to pause.
    private var paused: Set<TopicPartition> = []

    var all: [TopicPartition] { Array(engines.keys) }

    mutating func add(_ place: TopicPartition, as partition: Partition) {
        engines[place] = partition
        places[partition] = place
    }

    /// - Returns: what the engine called it.
    mutating func remove(_ place: TopicPartition) -> Partition? {
        last = nil
        unwanted.remove(place)
        held.remove(place)
        paused.remove(place)
        guard let partition = engines.removeValue(forKey: place) else { return nil }
        places[partition] = nil
        return partition
    }

    subscript(place: TopicPartition) -> Partition? { engines[place] }
    subscript(partition: Partition) -> TopicPartition? { places[partition] }

    /// The partition that a record came from.
    mutating func partition(of record: Record) -> Partition? {
        if let last, last.partition == record.partition, last.topic == record.topic { return last.engine }
        guard let found = engines[record.place] else { return nil }
        last = (record.topic, record.partition, found)
        return found
    }

    // MARK: Pauses

    mutating func want(_ partition: Partition, _ isWanted: Bool) {
        guard let place = places[partition] else { return }
        if isWanted { unwanted.remove(place) } else { unwanted.insert(place) }
    }

    /// What librdkafka has to be told now, and is then taken to know.
    mutating func takeChanges() -> (pause: [TopicPartition], resume: [TopicPartition]) {
        let stopped = held.isEmpty ? unwanted : unwanted.union(held)
        guard stopped != paused else { return ([], []) }
        let changes = (Array(stopped.subtracting(paused)), Array(paused.subtracting(stopped)))
        paused = stopped
        return changes
    }

    /// Reads these no further for now, and all others as far as the engine wants them.
    mutating func hold(_ places: Set<TopicPartition>) {
        held = places.isEmpty ? [] : places.filter { engines[$0] != nil }
    }

    mutating func wantAll() {
        unwanted = []
        held = []
    }

    mutating func wantNone() { unwanted = Set(engines.keys) }
}
