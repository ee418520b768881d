/// Slow destinations: how one that does not keep up stops holding up the others.
///
/// ```
///                reading has stood still for too long, because it is at its bound or all are and it holds more
///                than its share; every permit of it is in use; others have records too
///   keeping up ────────────────────────────────────────────────────────────────────────────▶ stalled
///       ▲                                                                                      │
///       └───────────────────────────── it holds no more than half its share ───────────────────┘
/// ```
///
/// A destination at its bound first stops reading for all: a healthy one has room again in a moment, and shedding would only delay its
/// records. For one that has stalled lately nobody waits a second time. One that is stalled keeps a share of the lane, and what is read for it for the first time goes to the first retry topic
/// at once. What comes from a retry topic is not shed for want of room, but not taken from there: else a backlog that is larger than
/// the destination is fast would climb the ladder for hours while the destination idles.
///
/// Where nobody else has records, nobody is held up, and reading waits.
extension OutboundMachine {
    /// How often a stall is looked for.
    private static let interval = Duration.milliseconds(100)

    /// When to look again; nil while everybody keeps up.
    var nextLook: Duration? { needsLook ? lastLook + Self.interval : nil }

    private var needsLook: Bool {
        settings.transient.sheds && (isPaused || crowdedDestinations > 0 || stalledDestinations > 0)
    }

    mutating func refreshStalls(_ now: Now) {
        guard needsLook else {
            fullSince = nil
            return
        }
        guard now.monotonic >= lastLook + Self.interval else { return }
        lastLook = now.monotonic
        fullSince = isPaused ? fullSince ?? now.monotonic : nil
        let busy = destinations.states.count(where: { $0.load > 0 })
        share = min(
            settings.maximumRecordsPerDestination,
            max(settings.maximumRecords / 4 * 3 / max(busy, 1), 1)
        )
        for index in destinations.states.indices
        where destinations[index].load > 0 || destinations[index].isStalled {
            refreshStall(index, busy: busy, now)
        }
    }

    private mutating func refreshStall(_ index: Int, busy: Int, _ now: Now) {
        let byteShare = settings.maximumBytes / 4 * 3 / max(busy, 1)
        let isOver = isOverShare(index) || destinations[index].queue.bytes > byteShare
        if destinations[index].isStalled {
            if destinations[index].load <= share / 2 {
                destinations[index].isStalled = false
                stalledDestinations -= 1
            }
        } else {
            guard holdsUp(index, isOver, now), isSlow(index), company.isThere(beside: index, now.monotonic)
            else { return }
            destinations[index].isStalled = true
            stalledDestinations += 1
        }
        if destinations[index].isStalled {
            destinations[index].lastStall = now.monotonic
            shedExcess(index, byteShare: byteShare, now)
        }
        refreshCrowd(index)
    }

    /// Whether others have waited for it long enough.
    private mutating func holdsUp(_ index: Int, _ isOver: Bool, _ now: Now) -> Bool {
        let since =
            destinations[index].isCrowded ? destinations[index].crowdedSince ?? now.monotonic : nil
        destinations[index].crowdedSince = since
        let isKnown = destinations[index].lastStall.map { now.monotonic - $0 <= Company.memory } ?? false
        let patience = isKnown ? .zero : settings.patience
        return since.map { now.monotonic - $0 >= patience } ?? false
            || isOver && fullSince.map { now.monotonic - $0 >= patience } ?? false
    }

    private func isOverShare(_ index: Int) -> Bool { destinations[index].load > share }

    /// Whether a new record, which counts already, is one too many for a destination that has stalled.
    func isOverShare(_ ticket: Ticket, _ index: Int) -> Bool {
        destinations[index].isStalled && records[ticket].handOvers == 0 && isOverShare(index)
    }

    /// A quarter above what new records may take, so that those from the retry topics come first.
    func hasRoom(_ index: Int) -> Bool {
        let bound = destinations[index].isStalled ? share : settings.maximumRecordsPerDestination
        return destinations[index].load < bound + max(bound / 4, 1)
    }

    /// Its records wait for it and not for company.
    func isSlow(_ index: Int) -> Bool {
        guard !destinations[index].queue.isEmpty else { return false }
        if case .closed = destinations[index].breaker.state { return !destinations[index].limit.hasRoom }
        return true
    }

    /// Sheds new records, the newest first, down to the share.
    private mutating func shedExcess(_ index: Int, byteShare: Int, _ now: Now) {
        var cursor = records.last(of: destinations[index].queue)
        while let ticket = cursor, isOverShare(index) || destinations[index].queue.bytes > byteShare {
            cursor = records.previous(before: ticket)
            guard records[ticket].handOvers == 0 else { continue }
            records.remove(ticket, from: &destinations[index].queue)
            shed(ticket, now)
        }
    }
}

/// Which destinations have had records lately: whether one is alone.
struct Company: Sendable {
    private var last: (index: Int, at: Duration)?
    /// The last one but for that.
    private var other: (index: Int, at: Duration)?
    /// What was longer ago is forgotten.
    static let memory = Duration.seconds(60)

    mutating func note(_ index: Int, _ now: Duration) {
        if let last, last.index != index { other = last }
        last = (index, now)
    }

    func isThere(beside index: Int, _ now: Duration) -> Bool {
        guard let visit = last?.index == index ? other : last else { return false }
        return now - visit.at <= Self.memory
    }
}
