/// What the engine keeps about one destination.
struct DestinationState: Sendable {
    var key: DestinationKey
    var limits: BatchLimits
    var limit: InFlightLimit
    var breaker: Breaker
    /// Records waiting to be sent, in the order in which they came.
    var queue = RecordQueue()
    /// Parts of refused batches; they go first.
    var pieces = FIFO<Piece<Ticket>>()
    /// Its records in whatever state: while there is one, the destination is not forgotten.
    var records = 0
    /// Its records that still have to be sent: queued, held, in flight or waiting.
    var load = 0
    /// Whether it holds up reading.
    var isCrowded = false
    /// Since when it does, as far as anybody has looked.
    var crowdedSince: Duration?
    /// Whether it has been too slow for too long, so that what is over its share is shed.
    var isStalled = false
    /// When it was so last.
    var lastStall: Duration?
    /// Whether it is in the line of destinations that may send.
    var isReady = false
    /// The earliest moment for which the engine will look at it.
    var wakesAt: Duration?
    /// No record in the queue expires before.
    var earliestExpiry = Timestamp(milliseconds: .max)
    /// Whether the queue will be searched for expired records.
    var isSweepPlanned = false

    init(_ key: DestinationKey, _ limits: BatchLimits, settings: OutboundSettings) {
        self.key = key
        self.limits = limits
        limit = InFlightLimit(settings.inFlight)
        breaker = Breaker(settings.breaker)
    }

    /// Whether forgetting it loses nothing: no records, nothing under way, no pause to be kept.
    func isIdle(at now: Duration) -> Bool {
        guard records == 0, limit.inFlight == 0, pieces.isEmpty, !isStalled else { return false }
        if case .wait = breaker.permission(at: now) { return false }
        return true
    }

    /// Notes that `record` joined the queue.
    mutating func noteExpiry(_ expires: Timestamp) {
        earliestExpiry = min(earliestExpiry, expires)
    }
}

/// The engine's destinations, by number and by key.
///
/// Looking one up costs nothing while the same one is asked for again, and one hash of its address otherwise. The table grows beyond its
/// maximum only while all of them are busy, and so by no more than there are records.
struct DestinationTable: Sendable {
    let maximum: Int
    private(set) var states: [DestinationState] = []
    private var indices: [DestinationKey: Int] = [:]
    private var last: (key: DestinationKey, index: Int)?
    /// Where the search for an idle one goes on.
    private var hand = 0

    init(maximum: Int) {
        self.maximum = max(maximum, 1)
    }

    subscript(index: Int) -> DestinationState {
        _read { yield states[index] }
        _modify { yield &states[index] }
    }

    mutating func find(_ key: DestinationKey) -> Int? {
        if let last, last.key == key { return last.index }
        guard let index = indices[key] else { return nil }
        last = (key, index)
        return index
    }

    /// Adds a destination, in the place of an idle one if the table is full.
    mutating func add(_ state: DestinationState, at now: Duration) -> Int {
        let index: Int
        if states.count >= maximum, let idle = nextIdle(at: now) {
            index = idle
            indices[states[index].key] = nil
            states[index] = state
        } else {
            index = states.count
            states.append(state)
        }
        indices[state.key] = index
        last = (state.key, index)
        return index
    }

    private mutating func nextIdle(at now: Duration) -> Int? {
        for _ in states.indices {
            hand = (hand + 1) % states.count
            if states[hand].isIdle(at: now) { return hand }
        }
        return nil
    }
}
