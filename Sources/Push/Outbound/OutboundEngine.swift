/// Brings records to their destinations and says how each one ended: the heart of a dispatch lane, and of delivery to providers.
///
/// It knows records, destinations, permits, deadlines and outcomes; nothing of HTTP or Kafka, of time or chance, which are passed in. One
/// lane owns it and calls it from its one loop:
///
/// ```
/// poll up to `room` ──▶ enqueue ─┐                           ┌─▶ send ─────────▶ complete
///                                ├─▶ engine ─▶ nextAction ───┼─▶ recall ───────▶ complete
///                                │        │                  ├─▶ deadLetter ───▶ confirm | confirmationFailed
///          clock ──▶ tick ───────┘        │                  ├─▶ handOver ─────▶ confirm | confirmationFailed
///                                         │                  └─▶ reject ───────▶ confirm | attemptAgain | confirmationFailed
///                                         └─▶ takeProgress ──▶ commit
/// ```
///
/// What holds, whatever comes in which order:
/// 1. Every record that was taken ends in exactly one way: accepted, rejected, dead letter, handed over, or given back uncommitted by a
///    revocation or the drain.
/// 2. An offset is committable once it and all before it have ended and their dead letters and hand-overs are confirmed. It never goes back.
/// 3. Destinations do not wait for each other: each has its own queue, in-flight limit and breaker.
/// 4. A request holds at most the destination's number of items and bytes and no id twice; while a breaker is open none leaves, half-open one.
/// 5. What is refused as a whole is bisected; only what is refused alone is at fault.
/// 6. Nothing expired is sent.
package struct OutboundEngine<Payload: Sendable>: ~Copyable, Sendable {
    private(set) var machine: OutboundMachine
    private var payloads: [Payload?] = []

    /// An empty engine; `seed` is for the jitter and another one for every lane.
    package init(_ settings: OutboundSettings, seed: UInt64) {
        machine = OutboundMachine(settings, seed: seed)
    }

    // MARK: Partitions and destinations

    /// Begins a partition.
    package mutating func assign() -> Partition {
        machine.assign()
    }

    /// Prepares the end of a partition: gives back its records that are not under way; the others may still end and be committed.
    package mutating func relinquish(_ partition: Partition) {
        machine.relinquish(partition)
        settle()
    }

    /// Ends a partition: its records are given back, and what is still under way of it no longer matters.
    ///
    /// Take ``committable(_:)`` before.
    package mutating func revoke(_ partition: Partition) {
        machine.revoke(partition)
        settle()
    }

    /// The destination of that name, a new one if there is none.
    ///
    /// Ask for every record: a number whose destination has been idle may be given to another, which `isNew` then says. The limits count
    /// when it is new.
    ///
    /// - Returns: the destination, and whether its number means something else than before.
    package mutating func destination(
        for key: DestinationKey,
        limits: BatchLimits,
        now: Now
    ) -> (destination: Destination, isNew: Bool) {
        let (index, isNew) = machine.destination(for: key, limits, now)
        return (Destination(index: index), isNew)
    }

    /// Whether anything leaves to a destination, and why not.
    package func breakerState(of destination: Destination) -> Breaker.State {
        machine.destinations[destination.index].breaker.state
    }

    /// How many batches are and may be under way to a destination.
    package func inFlight(to destination: Destination) -> (batches: Int, allowance: Int) {
        let limit = machine.destinations[destination.index].limit
        return (limit.inFlight, limit.allowance)
    }

    /// How many records wait for or are under way to a destination.
    package func load(of destination: Destination) -> Int {
        machine.destinations[destination.index].load
    }

    // MARK: Records

    /// Takes a record that was read.
    ///
    /// - Returns: its ticket; nil if it was not taken, because its partition is gone, its offset was there before or the drain has begun.
    @discardableResult
    package mutating func enqueue(_ record: OutboundRecord, _ payload: consuming Payload, now: Now) -> Ticket?
    {
        keep(payload, machine.enqueue(record, now))
    }

    /// Takes a record that is at fault before it has a destination: it goes to the dead letters.
    @discardableResult
    package mutating func condemn(
        _ partition: Partition,
        offset: Int64,
        _ payload: consuming Payload,
        footprint: Int,
        reason: DeadLetterReason,
        detail: String,
        now: Now
    ) -> Ticket? {
        let record = OutboundRecord(
            partition: partition,
            offset: offset,
            destination: .none,
            id: NotificationID(UUIDBytes(high: 0, low: 0)),
            byteCount: 0,
            footprint: footprint,
            expires: Timestamp(milliseconds: .max)
        )
        return keep(payload, machine.condemn(record, reason, detail, now))
    }

    /// Takes note of a record that needs nothing done: a tombstone, a pusher that is gone.
    package mutating func skip(_ partition: Partition, offset: Int64) {
        machine.skip(partition, offset)
    }

    /// What was given with a record; nil once it has ended.
    package func payload(of ticket: Ticket) -> Payload? {
        machine.records.contains(ticket) ? payloads[Int(ticket.slot)] : nil
    }

    // MARK: The loop

    /// The next thing to do, until there is none.
    package mutating func nextAction(now: Now) -> OutboundAction? {
        defer { settle() }
        return machine.nextAction(now)
    }

    /// A batch came back.
    ///
    /// One whose records have been given back meanwhile is noted for the destination's sake only.
    package mutating func complete(_ batch: BatchID, _ report: BatchReport, now: Now) {
        machine.complete(batch, report, now)
        settle()
    }

    /// What was asked for with a record is done and durable: its dead letter or hand-over written, its pusher deleted.
    package mutating func confirm(_ ticket: Ticket) {
        machine.confirm(ticket)
        settle()
    }

    /// What was asked for with a record could not be done; it is asked for again after a pause.
    package mutating func confirmationFailed(_ ticket: Ticket, now: Now) {
        machine.confirmationFailed(ticket, now)
    }

    /// A rejection needs another attempt before it is believed: the record is treated as after a transient failure.
    package mutating func attemptAgain(_ ticket: Ticket, now: Now) {
        machine.attemptAgain(ticket, now)
        settle()
    }

    /// Time has passed; due at ``nextDeadline`` and harmless at any other moment.
    package mutating func tick(now: Now) {
        machine.tick(now)
        settle()
    }

    /// The monotonic moment until which nothing happens by itself; nil: never.
    package var nextDeadline: Duration? { machine.nextDeadline }

    /// How many records should be read now.
    ///
    /// The bound on records is kept if no more are; the bound on bytes is passed by one poll at most.
    package var room: Int { machine.room }

    /// The records that the engine holds.
    package var recordCount: Int { machine.records.count }

    /// The records of a partition that the engine holds.
    package func recordCount(of partition: Partition) -> Int {
        machine.partitions.contains(partition) ? machine.partitions[partition].records : 0
    }

    /// Whether a record that has been handed over before should be given to the engine now.
    ///
    /// It would not be shed for want of room: one that comes from a retry topic can as well wait there.
    package func hasRoom(for destination: Destination) -> Bool { machine.hasRoom(destination.index) }

    /// The batches under way.
    package var batchCount: Int { machine.batches.count }

    package var counters: OutboundCounters { machine.counters }

    // MARK: Commits

    /// The partitions whose offset to commit has moved since this was last called.
    package mutating func takeProgress() -> [(partition: Partition, offset: Int64)] {
        machine.partitions.takeProgress()
    }

    /// The offset to commit for a partition; nil if there is none yet or the partition is gone.
    package func committable(_ partition: Partition) -> Int64? {
        machine.partitions.contains(partition) ? machine.partitions[partition].tracker.committable : nil
    }

    /// Whether all records of the partition that were taken have ended; so too where none was.
    package func isIdle(_ partition: Partition) -> Bool {
        machine.partitions.contains(partition) && machine.partitions[partition].tracker.count == 0
    }

    // MARK: The end

    /// Takes nothing new and gives back what is not under way.
    ///
    /// What is has until `deadline`, a monotonic moment; then it is given back too.
    package mutating func beginDrain(until deadline: Duration, now: Now) {
        machine.beginDrain(until: deadline, now)
        settle()
    }

    /// Whether the drain has begun and every record has ended or been given back.
    package var isDrained: Bool { machine.isDrained }

    // MARK: Payloads

    private mutating func keep(_ payload: consuming Payload, _ ticket: Ticket?) -> Ticket? {
        settle()
        guard let ticket else { return nil }
        let slot = Int(ticket.slot)
        if slot == payloads.count { payloads.append(payload) } else { payloads[slot] = payload }
        return ticket
    }

    /// Lets go of the payloads of records that are gone.
    private mutating func settle() {
        guard !machine.released.isEmpty else { return }
        for slot in machine.released { payloads[Int(slot)] = nil }
        machine.released.removeAll(keepingCapacity: true)
    }
}
