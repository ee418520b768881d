/// Slow destinations: how one that does not keep up stops holding up the others.
///
/// ```
///                at its bound, or reading stands still and it holds more than its share; its oldest record has
///                waited for too long with every permit in use; others have records too
///   keeping up ────────────────────────────────────────────────────────────────────────────▶ stalled
///       ▲                                                                                      │
///       └───────────────────────── what it has waits no longer than half of that ──────────────┘
/// ```
///
/// A destination at its bound first stops reading for all: a healthy one has room again in a moment, and shedding would only delay its
/// records. One that has stalled keeps a share of the lane, and what is read for it for the first time goes to the first retry topic
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
            if waitingTime(index, now) < settings.patience / 2 {
                destinations[index].isStalled = false
                stalledDestinations -= 1
            }
        } else {
            let holdsUp =
                destinations[index].isCrowded
                || isOver && fullSince.map { now.monotonic - $0 >= settings.patience } ?? false
            guard holdsUp, isSlow(index, now), company.isThere(beside: index, now.monotonic) else { return }
            destinations[index].isStalled = true
            stalledDestinations += 1
        }
        if destinations[index].isStalled { shedExcess(index, byteShare: byteShare, now) }
        refreshCrowd(index)
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

    private func waitingTime(_ index: Int, _ now: Now) -> Duration {
        records.first(of: destinations[index].queue).map { now.monotonic - records[$0].queuedAt } ?? .zero
    }

    /// It, and not the lane, is what its records wait for.
    private func isSlow(_ index: Int, _ now: Now) -> Bool {
        guard waitingTime(index, now) >= settings.patience else { return false }
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
    private static let memory = Duration.seconds(60)

    mutating func note(_ index: Int, _ now: Duration) {
        if let last, last.index != index { other = last }
        last = (index, now)
    }

    func isThere(beside index: Int, _ now: Duration) -> Bool {
        guard let visit = last?.index == index ? other : last else { return false }
        return now - visit.at <= Self.memory
    }
}
