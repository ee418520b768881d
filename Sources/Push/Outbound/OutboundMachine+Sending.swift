/// Records go out: destinations take turns, each within its in-flight limit and its breaker's permission.
extension OutboundMachine {
    /// Adds a record to its destination's queue.
    mutating func queue(_ ticket: Ticket, _ now: Now) {
        let index = records[ticket].destination
        records.append(ticket, to: &destinations[index].queue)
        destinations[index].noteExpiry(records[ticket].expires)
        touch(index, now)
    }

    /// Puts records back to the head of their queue, in their order; none of them is in a queue.
    mutating func requeue(_ tickets: [Ticket], _ index: Int, _ now: Now) {
        for ticket in tickets.reversed() where records.contains(ticket) {
            if isDraining || isLeaving(ticket) {
                giveBack(ticket)
            } else if mustShed(index, now) {
                shed(ticket, now)
            } else {
                records.prepend(ticket, to: &destinations[index].queue)
                destinations[index].noteExpiry(records[ticket].expires)
            }
        }
        touch(index, now)
    }

    /// Lines a destination up if it has something to send, or sees to being woken when it will.
    mutating func touch(_ index: Int, _ now: Now) {
        guard !destinations[index].isReady else { return }
        if isDue(index, now), canSend(index, now) {
            destinations[index].isReady = true
            ready.append(index)
        } else {
            schedule(index, now)
        }
    }

    /// Lets every destination that may send do so, one batch a turn.
    mutating func pump(_ now: Now) {
        while batches.count < settings.maximumBatches, let index = ready.popFirst() {
            destinations[index].isReady = false
            sendNext(index, now)
            touch(index, now)
        }
    }

    private func isDue(_ index: Int, _ now: Now) -> Bool {
        if !destinations[index].pieces.isEmpty { return true }
        let queue = destinations[index].queue
        guard let head = records.first(of: queue) else { return false }
        return destinations[index].limits.isFull(items: queue.count, bytes: queue.bytes)
            || records[head].queuedAt + destinations[index].limits.linger <= now.monotonic
    }

    private func canSend(_ index: Int, _ now: Now) -> Bool {
        guard destinations[index].limit.hasRoom else { return false }
        switch destinations[index].breaker.permission(at: now.monotonic) {
        case .pass, .probe: return true
        case .wait, .busy: return false
        }
    }

    private mutating func sendNext(_ index: Int, _ now: Now) {
        guard canSend(index, now) else { return }
        while isDue(index, now) {
            let piece = nextPiece(index, now) ?? fillBatch(index, now)
            if !piece.items.isEmpty {
                depart(piece, index, now)
                return
            }
        }
    }

    /// The next part of a refused batch, without what has gone or expired meanwhile.
    private mutating func nextPiece(_ index: Int, _ now: Now) -> Piece<Ticket>? {
        guard var piece = destinations[index].pieces.popFirst() else { return nil }
        piece.items = piece.items.filter { isSendable($0, now) }
        piece.held = piece.held.filter { records.contains($0) }
        return piece.items.isEmpty ? Piece(items: piece.held.filter { isSendable($0, now) }) : piece
    }

    private mutating func isSendable(_ ticket: Ticket, _ now: Now) -> Bool {
        guard records.contains(ticket) else { return false }
        guard records[ticket].expires <= now.wall else { return true }
        bury(ticket, .expired, now)
        return false
    }

    private mutating func fillBatch(_ index: Int, _ now: Now) -> Piece<Ticket> {
        let isProbe = destinations[index].breaker.permission(at: now.monotonic) == .probe
        var meter = BatchMeter(destinations[index].limits, cap: isProbe ? 1 : .max)
        var piece = Piece<Ticket>(items: [])
        piece.items.reserveCapacity(
            min(destinations[index].queue.count, destinations[index].limits.maximumItems)
        )
        batchIDs.removeAll(keepingCapacity: true)
        while let ticket = records.first(of: destinations[index].queue) {
            if records[ticket].expires <= now.wall {
                records.remove(ticket, from: &destinations[index].queue)
                bury(ticket, .expired, now)
                continue
            }
            guard !batchIDs.contains(records[ticket].id),
                meter.admit(bytes: records[ticket].byteCount, sharedFailures: records[ticket].sharedFailures)
            else { break }
            batchIDs.insert(records[ticket].id)
            records.remove(ticket, from: &destinations[index].queue)
            piece.items.append(ticket)
        }
        if destinations[index].queue.isEmpty {
            destinations[index].earliestExpiry = Timestamp(milliseconds: .max)
        }
        return piece
    }

    private mutating func depart(_ piece: Piece<Ticket>, _ index: Int, _ now: Now) {
        for ticket in piece.items { records[ticket].state = .inFlight }
        for ticket in piece.held { records[ticket].state = .held }
        let breakerDeparture = destinations[index].breaker.depart()
        let batch = BatchState(
            destination: index,
            items: piece.items.map { BatchState.Item(ticket: $0, id: records[$0].id) },
            held: piece.held,
            limitDeparture: destinations[index].limit.depart(),
            breakerDeparture: breakerDeparture,
            departedAt: now.monotonic
        )
        counters.batches += 1
        if breakerDeparture.isProbe { counters.probes += 1 }
        actions.append(
            .send(
                OutboundBatch(
                    id: batches.insert(batch),
                    destination: Destination(index: index),
                    tickets: piece.items,
                    isProbe: breakerDeparture.isProbe
                )
            )
        )
    }

    /// A batch as it is to be sent now: without records that were taken away since it was filled; nil if none is left.
    mutating func current(_ batch: OutboundBatch, _ now: Now) -> OutboundBatch? {
        guard batches.contains(batch.id) else { return nil }
        if batch.tickets.allSatisfy({ records.contains($0) }) { return batch }
        var narrowed = batch
        narrowed.tickets.removeAll { !records.contains($0) }
        guard narrowed.tickets.isEmpty else {
            batches.narrow(batch.id, to: narrowed.tickets)
            return narrowed
        }
        if let state = batches.remove(batch.id) {
            destinations[state.destination].limit.arrive()
            destinations[state.destination].breaker.cancel(state.breakerDeparture)
            requeue(state.held, state.destination, now)
            pump(now)
        }
        return nil
    }

    // MARK: Waking

    /// Sees to it that the destination is looked at again when time alone can change something for it.
    private mutating func schedule(_ index: Int, _ now: Now) {
        let queue = destinations[index].queue
        guard !queue.isEmpty || !destinations[index].pieces.isEmpty else { return }
        if !queue.isEmpty { planSweep(index, now) }
        let wake: Duration
        if case .wait(let until) = destinations[index].breaker.permission(at: now.monotonic) {
            wake = until
        } else if !isDue(index, now), let head = records.first(of: queue) {
            wake = records[head].queuedAt + destinations[index].limits.linger
        } else {
            return  // Until a batch comes back.
        }
        if let wakesAt = destinations[index].wakesAt, wakesAt <= wake { return }
        destinations[index].wakesAt = wake
        wakes.insert(index, due: wake)
    }

    private mutating func planSweep(_ index: Int, _ now: Now) {
        guard !destinations[index].isSweepPlanned else { return }
        destinations[index].isSweepPlanned = true
        sweeps.insert(index, due: now.monotonic + .seconds(1))
    }

    /// Buries what expired in the queue, once a second while there is one: nothing else would, at a destination that stands still.
    mutating func sweep(_ index: Int, _ now: Now) {
        destinations[index].isSweepPlanned = false
        if destinations[index].earliestExpiry <= now.wall { buryExpired(index, now) }
        if !destinations[index].queue.isEmpty { planSweep(index, now) }
    }

    private mutating func buryExpired(_ index: Int, _ now: Now) {
        var earliest = Timestamp(milliseconds: .max)
        var cursor = records.first(of: destinations[index].queue)
        while let ticket = cursor {
            cursor = records.next(after: ticket)
            if records[ticket].expires <= now.wall {
                records.remove(ticket, from: &destinations[index].queue)
                bury(ticket, .expired, now)
            } else {
                earliest = min(earliest, records[ticket].expires)
            }
        }
        destinations[index].earliestExpiry = earliest
        refreshCrowd(index)
    }
}
