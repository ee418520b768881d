import Testing

@testable import Push

/// Plays the engine against chance and checks what must hold whatever comes in which order.
struct OutboundModelTests {
    enum Kind: Hashable, Sendable, CaseIterable {
        case inLane
        case retryTopic
    }

    @Test(arguments: Kind.allCases, 0..<24)
    func `every record ends once, commits are honest, bounds hold`(kind: Kind, seed: UInt64) {
        let play = OutboundPlay(kind: kind, seed: seed)
        for _ in 0..<1500 where play.fault == nil { play.step() }
        if seed % 2 == 0 { play.settle() } else { play.drain() }
        #expect(play.fault == nil)
        #expect(play.ended > 100)
    }
}

/// One random run: a lane, its broker and its gateways in a few lines, and the books that are kept about them.
final class OutboundPlay {
    private struct Book {
        var offsets: [Int64] = []
        var ended: Set<Int64> = []
        var committed: Int64 = 0
        var next: Int64 = 0
    }

    private(set) var fault: String?
    private(set) var ended = 0

    private var engine: OutboundEngine<Int64>
    private let settings: OutboundSettings
    private var random: Jitter
    private var now = Now(monotonic: .seconds(5), wall: Timestamp(seconds: 1_800_000_000))
    private var books: [Partition: Book] = [:]
    private var owners: [Ticket: (partition: Partition, offset: Int64, expires: Timestamp)] = [:]
    private var flying: [OutboundBatch] = []
    private var ids: [BatchID: [NotificationID]] = [:]
    private var asked: [OutboundAction] = []
    private var paused: Set<Partition> = []
    private var nextID: UInt64 = 0

    init(kind: OutboundModelTests.Kind, seed: UInt64) {
        var settings = OutboundSettings()
        settings.transient =
            kind == .inLane
            ? .inLane(Backoff(first: .milliseconds(50), maximum: .seconds(1), maximumAttempts: 4))
            : .retryTopic(RetrySchedule(maximumAttempts: 4))
        settings.maximumRecords = 300
        settings.maximumBytes = 200_000
        settings.maximumRecordsPerDestination = 120
        settings.maximumBatches = 10
        settings.maximumDestinations = 4
        settings.offsetWindow = 200
        settings.recallAge = .seconds(1)
        settings.breaker.failures = 3
        settings.breaker.maximumPause = .seconds(5)
        settings.inFlight = InFlightLimit.Settings(minimum: 1, maximum: 5, initial: 2)
        self.settings = settings
        engine = OutboundEngine(settings, seed: seed)
        random = Jitter(seed: seed &* 7919 &+ (kind == .inLane ? 1 : 2))
        for _ in 0..<3 { assign() }
    }

    func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: for _ in 0..<Int.random(in: 1...12, using: &random) { enqueue() }
        case 40..<65: completeOne()
        case 65..<80: confirmOne()
        case 80..<97: advance(.milliseconds(Int.random(in: 1...400, using: &random)))
        case 97: advance(.seconds(Int.random(in: 1...20, using: &random)))
        case 98: commit()
        default: reassign()
        }
        collect()
        check()
    }

    /// Lets everything succeed from here on, and expects nothing to be left.
    func settle() {
        for _ in 0..<5000 where fault == nil && engine.recordCount > 0 {
            while !flying.isEmpty { completeOne(always: .accepted) }
            while !asked.isEmpty { confirmOne(isSure: true) }
            advance(.milliseconds(200))
            collect()
            check()
        }
        if engine.recordCount > 0 { fail("\(engine.recordCount) records never ended") }
        for (partition, book) in books
        where engine.committable(partition) ?? 0 != (book.offsets.last ?? -1) + 1 {
            if !book.offsets.isEmpty { fail("not all of a partition can be committed") }
        }
        if !paused.isEmpty { fail("still paused at rest") }
    }

    func drain() {
        engine.beginDrain(until: now.monotonic + .seconds(3), now: now)
        collect()
        for _ in 0..<100 where !engine.isDrained {
            if Bool.random(using: &random) { completeOne() } else { confirmOne() }
            advance(.milliseconds(50))
            collect()
            check(isDraining: true)
        }
        if !engine.isDrained { fail("the drain did not end") }
    }

    // MARK: What the world does

    private func assign() {
        let partition = engine.assign()
        books[partition] = Book()
    }

    private func reassign() {
        guard let partition = books.keys.randomElement(using: &random) else { return }
        engine.revoke(partition)
        books[partition] = nil
        paused.remove(partition)
        owners = owners.filter { $0.value.partition != partition }
        assign()
    }

    private func enqueue() {
        guard engine.room > 0, let partition = books.keys.randomElement(using: &random),
            !paused.contains(partition)
        else {
            return
        }
        let name = UInt8.random(in: 0..<6, using: &random)
        let limits = BatchLimits(
            maximumItems: Int(name) * 3 + 1,
            maximumBytes: 12_000,
            linger: .milliseconds(5)
        )
        let key = DestinationKey(address: [name], format: 0)
        let destination = engine.destination(for: key, limits: limits, now: now).destination
        // What comes from a retry topic is only taken from there where there is room.
        let handOvers = Int.random(in: 0...1, using: &random)
        if handOvers > 0, !engine.hasRoom(for: destination) { return }
        let offset = books[partition, default: Book()].next + Int64.random(in: 0...2, using: &random)
        books[partition]?.next = offset + 1
        books[partition]?.offsets.append(offset)
        nextID += UInt64.random(in: 0...8, using: &random) == 0 ? 0 : 1
        let record = OutboundRecord(
            partition: partition,
            offset: offset,
            destination: destination,
            id: OutboundRig.id(nextID),
            byteCount: Int.random(in: 0..<100, using: &random) == 0
                ? 20_000 : Int.random(in: 100...1500, using: &random),
            expires: now.wall.adding(milliseconds: Int64.random(in: -50...20_000, using: &random)),
            handOvers: handOvers,
            notBefore: Int.random(in: 0..<50, using: &random) == 0 ? now.wall.adding(.seconds(1)) : nil
        )
        guard let ticket = engine.enqueue(record, offset, now: now) else {
            return fail("a record was not taken")
        }
        guard owners[ticket] == nil else { return fail("a ticket was given twice") }
        owners[ticket] = (partition, offset, record.expires)
        collect()
    }

    private func completeOne(always outcome: Outcome? = nil) {
        guard let index = flying.indices.randomElement(using: &random) else { return }
        let batch = flying.remove(at: index)
        let items = ids.removeValue(forKey: batch.id) ?? []
        let result =
            outcome.map { outcome in
                .answered(items.map { ItemAnswer(id: $0, outcome: outcome) })
            } ?? chance(items)
        if case .answered(let answers) = result {
            for (ticket, id) in zip(batch.tickets, items) where owners[ticket] != nil {
                let mine = Set(answers.filter { $0.id == id }.map(\.outcome))
                if mine == [.accepted] { end(ticket) }
            }
        }
        engine.complete(batch.id, BatchReport(result), now: now)
        collect()
    }

    private func chance(_ items: [NotificationID]) -> BatchResult {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return .transient(.timeout)
        case 1: return .transient(.serverError)
        case 2:
            return .transient(
                .throttled,
                after: now.wall.adding(.seconds(Int.random(in: -5...5, using: &random)))
            )
        case 3: return .fault(.credential)
        case 4..<7: return .refused()
        case 7: return .transient(.unreadableAnswer)
        default: break
        }
        let outcomes: [Outcome] = [
            .accepted, .accepted, .accepted, .accepted, .rejected, .transient(.itemFailed),
            .faulty(.messageRefused),
        ]
        var answers = items.map {
            ItemAnswer(id: $0, outcome: outcomes.randomElement(using: &random) ?? .accepted)
        }
        answers.shuffle(using: &random)
        if Bool.random(using: &random), !answers.isEmpty { answers.removeLast() }
        if Bool.random(using: &random) {
            answers.append(ItemAnswer(id: OutboundRig.id(.max), outcome: .rejected))
        }
        if let first = answers.first { answers.append(ItemAnswer(id: first.id, outcome: .accepted)) }
        return .answered(answers)
    }

    private func confirmOne(isSure: Bool = false) {
        guard let index = asked.indices.randomElement(using: &random) else { return }
        let action = asked.remove(at: index)
        guard let ticket = Self.ticket(of: action) else { return }
        switch isSure ? 9 : Int.random(in: 0..<10, using: &random) {
        case 0:
            engine.confirmationFailed(ticket, now: now)
        case 1:
            if case .reject = action { engine.attemptAgain(ticket, now: now) } else { asked.append(action) }
        default:
            if owners[ticket] != nil { end(ticket) }
            engine.confirm(ticket)
        }
    }

    private func advance(_ duration: Duration) {
        now.monotonic += duration
        now.wall = now.wall.adding(duration)
        engine.tick(now: now)
        if let deadline = engine.nextDeadline, deadline <= now.monotonic {
            fail("a deadline in the past after a tick")
        }
    }

    private func commit() {
        for (partition, offset) in engine.takeProgress() where books[partition] == nil || offset < 0 {
            fail("progress of a partition that is gone")
        }
    }

    // MARK: What the engine asks for

    private func collect() {
        while let action = engine.nextAction(now: now) {
            switch action {
            case .send(let batch): launch(batch)
            case .recall(let batch):
                recall(batch)
            case .deadLetter(let ticket, _), .handOver(let ticket, _), .reject(let ticket):
                if owners[ticket] == nil { fail("asked about a record that is gone") }
                asked.append(action)
            case .pause(let partition): paused.insert(partition)
            case .resume(let partition): paused.remove(partition)
            case .alarm, .recovered: break
            }
        }
    }

    private func recall(_ id: BatchID) {
        guard let index = flying.firstIndex(where: { $0.id == id }) else {
            return fail("called back what is not under way")
        }
        flying.remove(at: index)
        ids[id] = nil
        engine.complete(id, BatchReport(.transient(.recalled)), now: now)
    }

    private func launch(_ batch: OutboundBatch) {
        for ticket in batch.tickets {
            guard let owner = owners[ticket] else { return fail("sent a record that is gone") }
            if owner.expires <= now.wall { fail("sent an expired record") }
            if engine.payload(of: ticket) != owner.offset { fail("a payload went astray") }
            if flying.contains(where: { $0.tickets.contains(ticket) }) { fail("sent a record twice at once") }
        }
        let names = batch.tickets.map { engine.machine.records[$0].id }
        if Set(names).count != names.count { fail("the same id twice in a batch") }
        let limits = engine.machine.destinations[batch.destination.index].limits
        let bytes = batch.tickets.reduce(0) { $0 + engine.machine.records[$1].byteCount }
        if names.isEmpty || names.count > limits.maximumItems { fail("a batch of \(names.count)") }
        if limits.requestSize(items: names.count, bytes: bytes) > limits.maximumBytes {
            fail("a request too large")
        }
        let others = flying.filter { $0.destination == batch.destination }
        if batch.isProbe, others.contains(where: \.isProbe) { fail("two probes at once") }
        flying.append(batch)
        ids[batch.id] = names
    }

    private func end(_ ticket: Ticket) {
        guard let owner = owners.removeValue(forKey: ticket) else { return fail("a record ended twice") }
        if books[owner.partition]?.ended.insert(owner.offset).inserted == false {
            fail("an offset ended twice")
        }
        ended += 1
    }

    // MARK: The books

    private func check(isDraining: Bool = false) {
        if !isDraining, engine.recordCount != owners.count {
            fail("\(engine.recordCount) held, \(owners.count) expected")
        }
        if engine.recordCount > settings.maximumRecords { fail("too many records") }
        if engine.batchCount > settings.maximumBatches { fail("too many batches") }
        for state in engine.machine.destinations.states {
            if state.limit.inFlight > settings.inFlight.maximum {
                fail("too many batches to one destination")
            }
            if state.load > settings.maximumRecordsPerDestination * 5 / 4 + 12 {
                fail("too many records for one destination")
            }
            if state.load < 0 || state.records < state.load { fail("the load of a destination is wrong") }
            if state.isStalled, state.isCrowded { fail("a stalled destination holds up reading") }
        }
        let stalled = engine.machine.destinations.states.count(where: { $0.isStalled })
        if stalled != engine.machine.stalledDestinations { fail("stalled destinations are miscounted") }
        let held = books.keys.reduce(0) { $0 + engine.recordCount(of: $1) }
        if !isDraining, held != engine.recordCount { fail("the records of partitions are miscounted") }
        for (partition, book) in books {
            let firstOpen = book.offsets.first { !book.ended.contains($0) }
            guard let offset = engine.committable(partition) else { continue }
            if let firstOpen, offset > firstOpen { fail("commits past an open record") }
            if offset < book.committed { fail("commits went back") }
            books[partition]?.committed = offset
        }
    }

    private static func ticket(of action: OutboundAction) -> Ticket? {
        switch action {
        case .deadLetter(let ticket, _), .handOver(let ticket, _), .reject(let ticket): ticket
        case .send, .recall, .pause, .resume, .alarm, .recovered: nil
        }
    }

    private func fail(_ text: String) {
        if fault == nil { fault = text }
    }
}
