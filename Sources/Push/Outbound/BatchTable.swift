/// A batch under way.
struct BatchState: Sendable {
    struct Item: Sendable {
        var ticket: Ticket
        var id: NotificationID
    }

    var destination: Int
    var items: [Item]
    /// The other half of a refused batch, waiting for this one's answer.
    var held: [Ticket]
    var limitDeparture: InFlightLimit.Departure
    var breakerDeparture: Breaker.Departure
    let departedAt: Duration
    /// Whether the caller was asked to give it up.
    var isRecalled = false
}

/// All batches under way, in places that are used again.
struct BatchTable: Sendable {
    private var states: [(generation: UInt32, batch: BatchState?)] = []
    private var free: [Int32] = []
    private(set) var count = 0

    mutating func insert(_ batch: BatchState) -> BatchID {
        count += 1
        if let slot = free.popLast() {
            states[Int(slot)].batch = batch
            return BatchID(slot: slot, generation: states[Int(slot)].generation)
        }
        states.append((0, batch))
        return BatchID(slot: Int32(states.count - 1), generation: 0)
    }

    func contains(_ id: BatchID) -> Bool {
        states.indices.contains(Int(id.slot)) && states[Int(id.slot)].generation == id.generation
            && states[Int(id.slot)].batch != nil
    }

    /// Takes a batch out; nil if it is not under way (any more).
    mutating func remove(_ id: BatchID) -> BatchState? {
        guard contains(id), let batch = states[Int(id.slot)].batch else { return nil }
        states[Int(id.slot)].batch = nil
        states[Int(id.slot)].generation &+= 1
        free.append(id.slot)
        count -= 1
        return batch
    }

    /// Those that left at or before a moment and have not been called back.
    func departed(by moment: Duration) -> [(BatchID, BatchState)] {
        states.indices.compactMap { slot in
            guard let batch = states[slot].batch, batch.departedAt <= moment, !batch.isRecalled else {
                return nil
            }
            return (BatchID(slot: Int32(slot), generation: states[slot].generation), batch)
        }
    }

    mutating func noteRecall(_ id: BatchID) {
        if contains(id) { states[Int(id.slot)].batch?.isRecalled = true }
    }

    /// Takes out of a batch what is gone before it was sent.
    mutating func narrow(_ id: BatchID, to tickets: [Ticket]) {
        guard contains(id) else { return }
        states[Int(id.slot)].batch?.items.removeAll { !tickets.contains($0.ticket) }
    }

    mutating func removeAll() {
        for slot in states.indices where states[slot].batch != nil {
            states[slot].batch = nil
            states[slot].generation &+= 1
            free.append(Int32(slot))
        }
        count = 0
    }
}
