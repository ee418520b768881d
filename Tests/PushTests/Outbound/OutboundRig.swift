@testable import Push

/// An engine with a clock that is moved by hand, and everything it asked for sorted by kind.
final class OutboundRig {
    var engine: OutboundEngine<Int>
    var now = Now(monotonic: .seconds(1000), wall: Timestamp(seconds: 1_800_000_000))
    private(set) var sent: [OutboundBatch] = []
    private(set) var letters: [(ticket: Ticket, letter: DeadLetter)] = []
    private(set) var handOvers: [(ticket: Ticket, handOver: HandOver)] = []
    private(set) var rejections: [Ticket] = []
    private(set) var paused: Set<Partition> = []
    private(set) var alarms: [(Destination, Breaker.Reason)] = []
    private(set) var recoveries: [Destination] = []
    private(set) var recalls: [BatchID] = []
    private var nextOffset: [Partition: Int64] = [:]
    private var nextID: UInt64 = 1

    init(_ settings: OutboundSettings = OutboundSettings(), seed: UInt64 = 1) {
        engine = OutboundEngine(settings, seed: seed)
    }

    static let limits = BatchLimits(maximumItems: 100, linger: .milliseconds(5))

    func destination(_ name: String, limits: BatchLimits = OutboundRig.limits) -> Destination {
        engine.destination(
            for: DestinationKey(address: Array(name.utf8), format: 0),
            limits: limits,
            now: now
        ).destination
    }

    /// Enqueues a record whose payload is its offset.
    @discardableResult
    func enqueue(
        _ partition: Partition,
        _ destination: Destination,
        id: UInt64? = nil,
        bytes: Int = 1000,
        expiresIn lifetime: Duration = .seconds(12 * 3600),
        attempts: Int = 0,
        handOvers: Int = 0,
        notBefore: Timestamp? = nil
    ) -> Ticket? {
        let offset = nextOffset[partition, default: 0]
        nextOffset[partition] = offset + 1
        let record = OutboundRecord(
            partition: partition,
            offset: offset,
            destination: destination,
            id: Self.id(id ?? nextID),
            byteCount: bytes,
            expires: now.wall.adding(lifetime),
            attempts: attempts,
            handOvers: handOvers,
            notBefore: notBefore
        )
        nextID += 1
        let ticket = engine.enqueue(record, Int(offset), now: now)
        collect()
        return ticket
    }

    @discardableResult
    func enqueue(_ count: Int, _ partition: Partition, _ destination: Destination) -> [Ticket] {
        var tickets: [Ticket] = []
        for _ in 0..<count {
            if let ticket = enqueue(partition, destination) { tickets.append(ticket) }
        }
        return tickets
    }

    func advance(_ duration: Duration) {
        now.monotonic += duration
        now.wall = now.wall.adding(duration)
        engine.tick(now: now)
        collect()
    }

    /// Goes from deadline to deadline, as a lane does, for so long or until `isDone`.
    func run(_ duration: Duration, until isDone: (OutboundRig) -> Bool = { _ in false }) {
        let end = now.monotonic + duration
        while !isDone(self), let deadline = engine.nextDeadline, deadline <= end {
            advance(max(deadline - now.monotonic, .milliseconds(1)))
        }
        if !isDone(self), now.monotonic < end { advance(end - now.monotonic) }
    }

    func complete(_ batch: OutboundBatch, _ result: BatchResult, status: Int? = nil) {
        engine.complete(batch.id, BatchReport(result, status: status), now: now)
        collect()
    }

    /// Answers each item of a batch by the payload of its record.
    func answer(_ batch: OutboundBatch, _ outcome: (Int) -> Outcome = { _ in .accepted }) {
        complete(batch, .answered(answers(to: batch, outcome)), status: 200)
    }

    func answers(to batch: OutboundBatch, _ outcome: (Int) -> Outcome) -> [ItemAnswer] {
        batch.tickets.compactMap { ticket in
            guard let payload = engine.payload(of: ticket) else { return nil }
            return ItemAnswer(id: itemID(of: ticket), outcome: outcome(payload))
        }
    }

    func confirm(_ ticket: Ticket) {
        engine.confirm(ticket)
        collect()
    }

    func attemptAgain(_ ticket: Ticket) {
        engine.attemptAgain(ticket, now: now)
        collect()
    }

    func confirmationFailed(_ ticket: Ticket) {
        engine.confirmationFailed(ticket, now: now)
        collect()
    }

    func relinquish(_ partition: Partition) {
        engine.relinquish(partition)
        collect()
    }

    func revoke(_ partition: Partition) {
        engine.revoke(partition)
        collect()
    }

    func drain(within duration: Duration) {
        engine.beginDrain(until: now.monotonic + duration, now: now)
        collect()
    }

    // The engine's own, since an expectation cannot look into what is not copyable.

    var recordCount: Int { engine.recordCount }
    var batchCount: Int { engine.batchCount }
    var room: Int { engine.room }
    var counters: OutboundCounters { engine.counters }
    var nextDeadline: Duration? { engine.nextDeadline }
    var isDrained: Bool { engine.isDrained }
    var progress: [Partition] { engine.takeProgress().map(\.partition) }

    func assign() -> Partition { engine.assign() }
    func committable(_ partition: Partition) -> Int64? { engine.committable(partition) }
    func recordCount(of partition: Partition) -> Int { engine.recordCount(of: partition) }
    func hasRoom(for destination: Destination) -> Bool { engine.hasRoom(for: destination) }
    func load(of destination: Destination) -> Int { engine.load(of: destination) }
    func inFlight(to destination: Destination) -> Int { engine.inFlight(to: destination).batches }
    func payload(of ticket: Ticket) -> Int? { engine.payload(of: ticket) }

    /// The batches sent since this was last asked.
    func takeSent() -> [OutboundBatch] {
        defer { sent = [] }
        return sent
    }

    func takeLetters() -> [(ticket: Ticket, letter: DeadLetter)] {
        defer { letters = [] }
        return letters
    }

    func takeHandOvers() -> [(ticket: Ticket, handOver: HandOver)] {
        defer { handOvers = [] }
        return handOvers
    }

    func takeRejections() -> [Ticket] {
        defer { rejections = [] }
        return rejections
    }

    func payloads(_ batch: OutboundBatch) -> [Int] {
        batch.tickets.compactMap { engine.payload(of: $0) }
    }

    func itemID(of ticket: Ticket) -> NotificationID {
        engine.machine.records[ticket].id
    }

    static func id(_ number: UInt64) -> NotificationID {
        NotificationID(UUIDBytes(high: 0x8000, low: number))
    }

    func collect() {
        while let action = engine.nextAction(now: now) {
            switch action {
            case .send(let batch): sent.append(batch)
            case .recall(let batch): recalls.append(batch)
            case .deadLetter(let ticket, let letter): letters.append((ticket, letter))
            case .handOver(let ticket, let handOver): handOvers.append((ticket, handOver))
            case .reject(let ticket): rejections.append(ticket)
            case .pause(let partition): paused.insert(partition)
            case .resume(let partition): paused.remove(partition)
            case .alarm(let destination, let reason): alarms.append((destination, reason))
            case .recovered(let destination): recoveries.append(destination)
            }
        }
    }
}
