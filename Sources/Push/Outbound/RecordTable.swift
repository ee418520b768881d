/// Names one record inside one engine, from its enqueueing to its end; afterwards it names nothing, even if the place is used again.
package struct Ticket: Hashable, Sendable {
    let slot: Int32
    let generation: UInt32
}

/// A first-in, first-out line of records, linked through their places in the table.
///
/// Costs nothing per record.
struct RecordQueue: Sendable {
    fileprivate(set) var head: Int32 = -1
    fileprivate(set) var tail: Int32 = -1
    fileprivate(set) var count = 0
    /// Bytes that its items take in a request.
    fileprivate(set) var bytes = 0

    var isEmpty: Bool { count == 0 }
}

/// All records that the engine holds, in places that are used again.
///
/// Invariant: a place is free or holds one record; a record is in at most one ``RecordQueue``, and in one exactly while its state is `queued`.
struct RecordTable: Sendable {
    enum State: Hashable, Sendable {
        case free
        /// Just taken.
        case new
        /// In its destination's queue.
        case queued
        /// Part of a refused batch, on its way to be sent again in a smaller one.
        case held
        case inFlight
        /// For its next attempt.
        case waiting
        /// For the caller to confirm how it ended.
        case ending
    }

    /// What the caller was asked to do with a record.
    enum Ending: Sendable {
        case deadLetter(DeadLetter)
        case handOver(HandOver)
        case rejection
    }

    struct Entry: Sendable {
        var id: NotificationID
        var partition: Partition
        var position: OffsetTracker.Position
        /// -1: none, it was at fault before it had one.
        var destination: Int
        var byteCount: Int
        var footprint: Int
        var expires: Timestamp
        var attempts: Int
        var handOvers: Int
        var queuedAt: Duration
        /// How often it was part of a batch that failed as a whole.
        var sharedFailures = 0
        var note: FailureNote?
        var ending: Ending?
        var state = State.free
        fileprivate(set) var generation: UInt32 = 0
        fileprivate var previous: Int32 = -1
        fileprivate var next: Int32 = -1

        init(_ record: OutboundRecord, at position: OffsetTracker.Position, _ now: Now) {
            id = record.id
            partition = record.partition
            self.position = position
            destination = record.destination.index
            byteCount = record.byteCount
            footprint = record.footprint
            expires = record.expires
            attempts = record.attempts
            handOvers = record.handOvers
            queuedAt = now.monotonic
            state = .new
        }
    }

    private(set) var entries: [Entry] = []
    private var free: [Int32] = []
    private(set) var count = 0
    /// The memory that the records take.
    private(set) var footprint = 0

    func contains(_ ticket: Ticket) -> Bool {
        guard ticket.slot >= 0, Int(ticket.slot) < entries.count else { return false }
        let generation = entries[Int(ticket.slot)].generation
        return generation == ticket.generation && entries[Int(ticket.slot)].state != .free
    }

    func state(of ticket: Ticket) -> State {
        contains(ticket) ? entries[Int(ticket.slot)].state : .free
    }

    /// The record of a ticket that is known to be current.
    subscript(ticket: Ticket) -> Entry {
        _read { yield entries[Int(ticket.slot)] }
        _modify { yield &entries[Int(ticket.slot)] }
    }

    func ticket(at slot: Int32) -> Ticket {
        Ticket(slot: slot, generation: entries[Int(slot)].generation)
    }

    mutating func insert(_ entry: Entry) -> Ticket {
        count += 1
        footprint += entry.footprint
        if let slot = free.popLast() {
            let generation = entries[Int(slot)].generation
            entries[Int(slot)] = entry
            entries[Int(slot)].generation = generation
            return Ticket(slot: slot, generation: generation)
        }
        entries.append(entry)
        return Ticket(slot: Int32(entries.count - 1), generation: 0)
    }

    /// Frees the place of a record that is in no queue.
    mutating func remove(_ ticket: Ticket) {
        let slot = Int(ticket.slot)
        count -= 1
        footprint -= entries[slot].footprint
        entries[slot].state = .free
        entries[slot].generation &+= 1
        entries[slot].note = nil
        entries[slot].ending = nil
        free.append(ticket.slot)
    }
}

// MARK: Queues

extension RecordTable {
    mutating func append(_ ticket: Ticket, to queue: inout RecordQueue) {
        let slot = Int(ticket.slot)
        entries[slot].state = .queued
        entries[slot].previous = queue.tail
        entries[slot].next = -1
        if queue.tail >= 0 { entries[Int(queue.tail)].next = ticket.slot } else { queue.head = ticket.slot }
        queue.tail = ticket.slot
        queue.count += 1
        queue.bytes += entries[slot].byteCount
    }

    mutating func prepend(_ ticket: Ticket, to queue: inout RecordQueue) {
        let slot = Int(ticket.slot)
        entries[slot].state = .queued
        entries[slot].previous = -1
        entries[slot].next = queue.head
        if queue.head >= 0 {
            entries[Int(queue.head)].previous = ticket.slot
        } else {
            queue.tail = ticket.slot
        }
        queue.head = ticket.slot
        queue.count += 1
        queue.bytes += entries[slot].byteCount
    }

    /// Takes a record out of the queue that it is in; its new state is the caller's to set.
    mutating func remove(_ ticket: Ticket, from queue: inout RecordQueue) {
        let slot = Int(ticket.slot)
        let (previous, next) = (entries[slot].previous, entries[slot].next)
        if previous >= 0 { entries[Int(previous)].next = next } else { queue.head = next }
        if next >= 0 { entries[Int(next)].previous = previous } else { queue.tail = previous }
        entries[slot].previous = -1
        entries[slot].next = -1
        queue.count -= 1
        queue.bytes -= entries[slot].byteCount
    }

    func first(of queue: RecordQueue) -> Ticket? {
        queue.head >= 0 ? ticket(at: queue.head) : nil
    }

    func last(of queue: RecordQueue) -> Ticket? {
        queue.tail >= 0 ? ticket(at: queue.tail) : nil
    }

    func previous(before ticket: Ticket) -> Ticket? {
        let previous = entries[Int(ticket.slot)].previous
        return previous >= 0 ? self.ticket(at: previous) : nil
    }

    func next(after ticket: Ticket) -> Ticket? {
        let next = entries[Int(ticket.slot)].next
        return next >= 0 ? self.ticket(at: next) : nil
    }
}
