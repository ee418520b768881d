internal import Kafka
internal import Push

/// What is to be committed, and what is already.
struct OffsetBook {
    private(set) var pending: [TopicPartition: Int64] = [:]
    private var committed: [TopicPartition: Int64] = [:]

    var isEmpty: Bool { pending.isEmpty }

    /// Takes over what the engine says may be committed; an offset never goes back.
    mutating func note(_ progress: [(partition: Partition, offset: Int64)], _ book: PartitionBook) {
        for (partition, offset) in progress {
            guard let place = book[partition], offset > committed[place] ?? -1 else { continue }
            pending[place] = max(offset, pending[place] ?? 0)
        }
    }

    var offsets: [TopicPartitionOffset] {
        pending.map { TopicPartitionOffset($0.key, offset: $0.value) }
    }

    mutating func markCommitted() {
        committed.merge(pending) { max($0, $1) }
        pending.removeAll()
    }

    /// The partition is not this lane's any more.
    mutating func forget(_ place: TopicPartition) {
        pending[place] = nil
        committed[place] = nil
    }
}
