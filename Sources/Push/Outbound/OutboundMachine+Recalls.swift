/// Records that keep partitions from being read: how they are called back.
///
/// Offsets are committed in their order, so a partition is read only a window further than its first record that has not ended. Near the
/// most that a lane can do, a destination that never answers fills that window within seconds, and everybody would wait for as long as
/// its requests may take. So what keeps a full window shut is given up once it has been under way, or has waited for a destination that
/// takes nothing, for ``OutboundSettings/recallAge``: a request's records go on as after a timeout, those that wait are shed.
///
/// Where nobody else has records, nobody is held up, and a request may take its time.
extension OutboundMachine {
    private static let interval = Duration.milliseconds(100)

    /// When to look again; nil while every partition may be read.
    var nextRecall: Duration? { needsRecalls ? lastRecalls + Self.interval : nil }

    private var needsRecalls: Bool { settings.transient.sheds && partitions.hasFullWindow }

    mutating func refreshRecalls(_ now: Now) {
        guard needsRecalls, now.monotonic >= lastRecalls + Self.interval else { return }
        lastRecalls = now.monotonic
        let moment = now.monotonic - settings.recallAge
        for (id, batch) in batches.departed(by: moment)
        where company.isThere(beside: batch.destination, now.monotonic)
            && batch.items.contains(where: { keepsShut($0.ticket) })
        {
            batches.noteRecall(id)
            actions.append(.recall(id))
        }
        for index in destinations.states.indices
        where isSlow(index) && company.isThere(beside: index, now.monotonic) {
            shedWaiting(index, since: moment, now)
        }
    }

    /// Whether a record is in the half of a full window that must end before reading goes on.
    private func keepsShut(_ ticket: Ticket) -> Bool {
        guard records.contains(ticket) else { return false }
        let (partition, position) = (records[ticket].partition, records[ticket].position)
        return partitions[partition].isWindowFull && partitions[partition].tracker.isEarly(position)
    }

    private mutating func shedWaiting(_ index: Int, since moment: Duration, _ now: Now) {
        var cursor = records.first(of: destinations[index].queue)
        while let ticket = cursor {
            cursor = records.next(after: ticket)
            guard records[ticket].queuedAt <= moment, keepsShut(ticket) else { continue }
            records.remove(ticket, from: &destinations[index].queue)
            shed(ticket, now)
        }
        refreshCrowd(index)
    }
}
