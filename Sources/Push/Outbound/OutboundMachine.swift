/// The state machine behind ``OutboundEngine``, which adds the payloads; see there for what it does.
///
/// ```
///              enqueue
///                 │            over its bounds, breaker open (with retry topics)
///                 ▼         ┌──────────────────────────────────────────────────┐
///   waiting ──▶ queued ─────┤                                                  ▼
///      ▲          │  ▲      │ expired, too large            ┌──────────▶ ending (hand-over)
///      │          ▼  │      └──────────▶ ending (dead letter)    │              │ confirmed
///      │       in flight ── refused ──▶ held ──▶ in flight alone │              ▼
///      │          │  │  │              (in smaller batches)      │        acknowledged, gone
///      └──────────┘  │  └────── transient, with retry topics ────┘              ▲
///   transient,       └── accepted ──────────────────────────────────────────────┘
///   in the lane          rejected ──▶ ending (rejection) ── confirmed ──────────┘
/// ```
///
/// Invariants:
/// 1. A record leaves `records` exactly once: acknowledged, or given back by a revocation or the drain.
/// 2. `acknowledge` is called only for records that ended: accepted, or their ending confirmed.
/// 3. Everything is O(1) per record but: sweeps for expired records (at most once a second per destination), revocation and drain.
///
/// One lane owns it. Time, chance and results are passed in, actions come out; it waits for nothing.
struct OutboundMachine: ~Copyable, Sendable {
    let settings: OutboundSettings
    var jitter: Jitter
    var partitions: PartitionTable
    var destinations: DestinationTable
    var records = RecordTable()
    var batches = BatchTable()
    var counters = OutboundCounters()

    /// Destinations that may have something to send, in turn.
    var ready = FIFO<Int>()
    /// When to look at a destination again.
    var wakes = DeadlineHeap<Int>()
    /// When to search a destination's queue for expired records.
    var sweeps = DeadlineHeap<Int>()
    /// Records waiting for their next attempt, or for the next try to write how they ended.
    var timers = DeadlineHeap<Ticket>()
    var actions = FIFO<OutboundAction>()
    var matcher = AnswerMatcher()
    /// The ids of the batch being filled.
    var batchIDs: Set<NotificationID> = []

    /// Places of records that are gone, for whoever keeps something beside them.
    var released: [Int32] = []
    var crowdedDestinations = 0
    var isPaused = false
    /// Who has records lately.
    var company = Company()
    var stalledDestinations = 0
    /// Records that a stalled destination may hold.
    var share = 0
    /// Since when reading stands still at the bounds, as far as ``refreshStalls(_:)`` has seen.
    var fullSince: Duration?
    var lastLook = Duration.zero
    var lastRecalls = Duration.zero
    var drainDeadline: Duration?

    init(_ settings: OutboundSettings, seed: UInt64) {
        self.settings = settings
        jitter = Jitter(seed: seed)
        partitions = PartitionTable(window: settings.offsetWindow)
        destinations = DestinationTable(maximum: settings.maximumDestinations)
    }

    var isDraining: Bool { drainDeadline != nil }

    /// When ``tick(_:)`` has something to do.
    var nextDeadline: Duration? {
        isDrained
            ? nil
            : [wakes.earliest, sweeps.earliest, timers.earliest, drainDeadline, nextLook, nextRecall]
                .compactMap { $0 }.min()
    }

    mutating func destination(
        for key: DestinationKey,
        _ limits: BatchLimits,
        _ now: Now
    ) -> (Int, isNew: Bool) {
        if let index = destinations.find(key) { return (index, false) }
        let state = DestinationState(key, limits, settings: settings)
        return (destinations.add(state, at: now.monotonic), true)
    }

    mutating func assign() -> Partition {
        let partition = partitions.assign()
        tellPause(partition)
        return partition
    }

    // MARK: Records come in

    /// - Returns: nil if the record was not taken.
    mutating func enqueue(_ record: OutboundRecord, _ now: Now) -> Ticket? {
        let isKnown = destinations.states.indices.contains(record.destination.index)
        guard isKnown, let ticket = insert(record, now) else {
            counters.refusedRecords += 1
            return nil
        }
        let index = record.destination.index
        destinations[index].records += 1
        destinations[index].load += 1
        company.note(index, now.monotonic)
        if record.expires <= now.wall {
            bury(ticket, .expired, now)
        } else if destinations[index].limits.isOversize(record.byteCount) {
            bury(ticket, .notificationTooLarge, now)
        } else if postpone(ticket, until: record.notBefore, now) {
            // Its gateway asked for more time than its retry topic has.
        } else if mustShed(index, now) || isOverShare(ticket, index) {
            shed(ticket, now)
        } else {
            queue(ticket, now)
        }
        refreshCrowd(index)
        refreshPauses()
        pump(now)
        return ticket
    }

    /// Takes a record that is at fault before it has a destination: straight to the dead letters.
    mutating func condemn(
        _ record: OutboundRecord,
        _ reason: DeadLetterReason,
        _ detail: String,
        _ now: Now
    ) -> Ticket? {
        guard let ticket = insert(record, now) else {
            counters.refusedRecords += 1
            return nil
        }
        note(ticket, reason.rawValue, status: nil, detail: detail, now)
        bury(ticket, reason, now)
        refreshPauses()
        return ticket
    }

    /// Takes note of an offset that needs nothing done.
    mutating func skip(_ partition: Partition, _ offset: Int64) {
        guard !isDraining, partitions.contains(partition),
            let position = partitions[partition].tracker.register(offset)
        else {
            counters.refusedRecords += 1
            return
        }
        partitions.acknowledge(position, of: partition)
        refreshWindow(partition)
    }

    private mutating func insert(_ record: OutboundRecord, _ now: Now) -> Ticket? {
        guard !isDraining, partitions.contains(record.partition),
            let position = partitions[record.partition].tracker.register(record.offset)
        else { return nil }
        counters.enqueued += 1
        let ticket = records.insert(RecordTable.Entry(record, at: position, now))
        partitions[record.partition].records += 1
        refreshWindow(record.partition)
        return ticket
    }

    // MARK: Time passes

    mutating func tick(_ now: Now) {
        while let (_, ticket) = timers.popDue(at: now.monotonic) { resume(ticket, now) }
        while let (due, index) = wakes.popDue(at: now.monotonic) {
            guard destinations[index].wakesAt == due else { continue }
            destinations[index].wakesAt = nil
            touch(index, now)
        }
        while let (_, index) = sweeps.popDue(at: now.monotonic) { sweep(index, now) }
        if let drainDeadline, drainDeadline <= now.monotonic { giveUp() }
        pump(now)
        refreshStalls(now)
        refreshRecalls(now)
        refreshPauses()
    }

    /// What a waiting record waited for is there.
    private mutating func resume(_ ticket: Ticket, _ now: Now) {
        guard records.contains(ticket) else { return }
        switch records[ticket].state {
        case .waiting:
            if records[ticket].expires <= now.wall {
                bury(ticket, .expired, now)
            } else {
                records[ticket].queuedAt = now.monotonic
                queue(ticket, now)
            }
        case .ending:
            emitEnding(ticket)
        case .free, .new, .queued, .held, .inFlight:
            break
        }
    }

    /// The next thing to do; what it is about is still there.
    mutating func nextAction(_ now: Now) -> OutboundAction? {
        while let action = actions.popFirst() {
            switch action {
            case .send(let batch):
                if let batch = current(batch, now) { return .send(batch) }
            case .deadLetter(let ticket, _), .handOver(let ticket, _), .reject(let ticket):
                if records.state(of: ticket) == .ending { return action }
            case .pause(let partition), .resume(let partition):
                if partitions.contains(partition) { return action }
            case .recall(let id):
                if batches.contains(id) { return action }
            case .alarm, .recovered:
                return action
            }
        }
        return nil
    }
}
