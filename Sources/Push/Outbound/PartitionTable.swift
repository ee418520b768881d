/// What the engine keeps about one partition.
struct PartitionState: Sendable {
    var generation: UInt32 = 0
    var isAssigned = false
    var tracker: OffsetTracker
    /// Whether it was read so far past its first unfinished record that it has to wait.
    var isWindowFull = false
    /// What the lane was told last.
    var isPaused = false
    /// Whether it is in the list of partitions with something to commit.
    var hasProgress = false
    /// Its records that the engine holds.
    var records = 0
    /// Whether it is about to be given back: what is not under way does not stay.
    var isLeaving = false
}

/// The partitions that the lane reads, and what of them may be committed.
struct PartitionTable: Sendable {
    private let window: Int
    private(set) var states: [PartitionState] = []
    private var progressed: [Int] = []

    init(window: Int) {
        self.window = window
    }

    subscript(partition: Partition) -> PartitionState {
        _read { yield states[partition.index] }
        _modify { yield &states[partition.index] }
    }

    func contains(_ partition: Partition) -> Bool {
        states.indices.contains(partition.index) && states[partition.index].isAssigned
            && states[partition.index].generation == partition.generation
    }

    var assigned: [Partition] {
        states.indices.filter { states[$0].isAssigned }
            .map { Partition(index: $0, generation: states[$0].generation) }
    }

    /// Whether one of them was read too far past its first unfinished record.
    var hasFullWindow: Bool { states.contains { $0.isAssigned && $0.isWindowFull } }

    mutating func assign() -> Partition {
        var state = PartitionState(tracker: OffsetTracker(limit: window))
        state.isAssigned = true
        guard let index = states.firstIndex(where: { !$0.isAssigned }) else {
            states.append(state)
            return Partition(index: states.count - 1, generation: 0)
        }
        state.generation = states[index].generation
        states[index] = state
        return Partition(index: index, generation: state.generation)
    }

    /// Forgets its offsets; what is under way of it no longer counts.
    mutating func revoke(_ partition: Partition) {
        progressed.removeAll { $0 == partition.index }
        states[partition.index].isAssigned = false
        states[partition.index].generation &+= 1
    }

    mutating func acknowledge(_ position: OffsetTracker.Position, of partition: Partition) {
        guard states[partition.index].tracker.acknowledge(position) else { return }
        guard !states[partition.index].hasProgress else { return }
        states[partition.index].hasProgress = true
        progressed.append(partition.index)
    }

    /// The partitions whose committable offset moved since this was last asked.
    mutating func takeProgress() -> [(partition: Partition, offset: Int64)] {
        var progress: [(partition: Partition, offset: Int64)] = []
        for index in progressed {
            states[index].hasProgress = false
            guard let offset = states[index].tracker.committable else { continue }
            progress.append((Partition(index: index, generation: states[index].generation), offset))
        }
        progressed.removeAll(keepingCapacity: true)
        return progress
    }
}
