/// How records end, and what happens between a failure and the next attempt.
extension OutboundMachine {
    // MARK: Failures

    /// Remembers how an attempt failed.
    mutating func note(_ ticket: Ticket, _ cause: String, status: Int?, detail: String, _ now: Now) {
        records[ticket].note = FailureNote(
            cause: cause,
            status: status,
            detail: detail,
            firstFailedAt: records[ticket].note?.firstFailedAt ?? now.wall,
            lastFailedAt: now.wall
        )
    }

    /// Sends a record, which is in no queue, where the policy sends transient failures; `isCharged` says whether that cost it an attempt.
    mutating func fail(_ ticket: Ticket, after: Timestamp?, isCharged: Bool, _ now: Now) {
        if isCharged { records[ticket].attempts += 1 }
        guard records[ticket].expires > now.wall else {
            bury(ticket, .expired, now)
            return
        }
        guard records[ticket].attempts < settings.transient.maximumAttempts else {
            bury(ticket, .outOfAttempts, now)
            return
        }
        let asked = min(max(after?.since(now.wall) ?? .zero, .zero), settings.breaker.maximumThrottle)
        switch settings.transient {
        case .inLane(let backoff):
            wait(
                ticket,
                for: max(backoff.pause(after: records[ticket].attempts, jitter: &jitter), asked),
                now
            )
        case .retryTopic(let schedule):
            handOver(ticket, schedule, asked, now)
        }
    }

    /// Keeps a record in the lane until it may be tried again; one that expires before is found expired then.
    private mutating func wait(_ ticket: Ticket, for pause: Duration, _ now: Now) {
        guard !isDraining, !isLeaving(ticket) else {
            giveBack(ticket)
            return
        }
        records[ticket].state = .waiting
        let expiry = now.monotonic(at: records[ticket].expires)
        timers.insert(ticket, due: min(now.monotonic + pause, expiry))
    }

    /// Hands a record, which is in no queue, to the retry topic of its next step.
    private mutating func handOver(_ ticket: Ticket, _ schedule: RetrySchedule, _ asked: Duration, _ now: Now)
    {
        let remaining = records[ticket].expires.since(now.wall)
        let step = schedule.step(after: records[ticket].handOvers, atLeast: asked, remaining: remaining)
        let fallback = FailureNote(
            cause: TransientCause.shed.rawValue,
            status: nil,
            detail: "",
            firstFailedAt: now.wall,
            lastFailedAt: now.wall
        )
        records[ticket].handOvers += 1
        counters.handedOver += 1
        let due = now.wall.adding(schedule.pause(at: step, jitter: &jitter))
        let notBefore = now.wall.adding(asked)
        let handOver = HandOver(
            step: step,
            due: due,
            notBefore: notBefore > due ? notBefore : nil,
            attempts: records[ticket].attempts,
            handOvers: records[ticket].handOvers,
            note: records[ticket].note ?? fallback
        )
        end(ticket, .handOver(handOver))
    }

    // MARK: Shedding

    /// Whether a record for this destination should not wait for it here: nothing leaves to it for longer than is worth waiting.
    func mustShed(_ index: Int, _ now: Now) -> Bool {
        guard settings.transient.sheds else { return false }
        switch destinations[index].breaker.state {
        case .closed: return false
        case .open(_, let until): return until > now.monotonic + settings.waitablePause
        case .halfOpen(_, let isProbing): return isProbing
        }
    }

    /// Hands a record on for which a gateway asked for more time than its retry topic has.
    ///
    /// - Returns: whether there was still time to wait.
    mutating func postpone(_ ticket: Ticket, until notBefore: Timestamp?, _ now: Now) -> Bool {
        guard case .retryTopic(let schedule) = settings.transient, let notBefore, notBefore > now.wall else {
            return false
        }
        counters.shed += 1
        handOver(ticket, schedule, min(notBefore.since(now.wall), settings.breaker.maximumThrottle), now)
        return true
    }

    /// Hands a record, which is in no queue, to a retry topic without an attempt.
    mutating func shed(_ ticket: Ticket, _ now: Now) {
        guard case .retryTopic(let schedule) = settings.transient else { return }
        var asked = Duration.zero
        if case .open(.throttled, let until) = destinations[records[ticket].destination].breaker.state {
            asked = until - now.monotonic
        }
        counters.shed += 1
        handOver(ticket, schedule, asked, now)
    }

    /// Sheds all that is queued for a destination that has just stopped for longer than is worth waiting.
    mutating func shedQueue(_ index: Int, _ now: Now) {
        guard mustShed(index, now) else { return }
        while let ticket = records.first(of: destinations[index].queue) {
            records.remove(ticket, from: &destinations[index].queue)
            shed(ticket, now)
        }
        destinations[index].earliestExpiry = Timestamp(milliseconds: .max)
    }

    // MARK: Ends

    /// Asks for a dead letter of a record that is in no queue.
    mutating func bury(_ ticket: Ticket, _ reason: DeadLetterReason, _ now: Now) {
        if reason == .expired { counters.expired += 1 }
        counters.deadLettered += 1
        let letter = DeadLetter(
            reason: reason,
            attempts: records[ticket].attempts,
            note: records[ticket].note
        )
        end(ticket, .deadLetter(letter))
    }

    /// Asks the caller to end a record that is in no queue; it stays until that is confirmed.
    mutating func end(_ ticket: Ticket, _ ending: RecordTable.Ending) {
        records[ticket].state = .ending
        records[ticket].ending = ending
        unload(ticket)
        emitEnding(ticket)
    }

    mutating func emitEnding(_ ticket: Ticket) {
        switch records[ticket].ending {
        case .deadLetter(let letter): actions.append(.deadLetter(ticket, letter))
        case .handOver(let handOver): actions.append(.handOver(ticket, handOver))
        case .rejection: actions.append(.reject(ticket))
        case nil: break
        }
    }

    /// The caller did what it was asked to do with a record.
    mutating func confirm(_ ticket: Ticket) {
        guard records.state(of: ticket) == .ending else { return }
        acknowledge(ticket)
        release(ticket)
        refreshPauses()
    }

    /// The caller could not; it is asked again after a pause, and the partition's commits stay where they are.
    mutating func confirmationFailed(_ ticket: Ticket, _ now: Now) {
        guard records.state(of: ticket) == .ending else { return }
        counters.unconfirmed += 1
        timers.insert(ticket, due: now.monotonic + jitter.stretched(settings.confirmationPause, by: 0.5))
    }

    /// The caller does not believe a rejection yet.
    mutating func attemptAgain(_ ticket: Ticket, _ now: Now) {
        guard records.state(of: ticket) == .ending, case .rejection = records[ticket].ending else { return }
        let index = records[ticket].destination
        records[ticket].state = .inFlight
        records[ticket].ending = nil
        destinations[index].load += 1
        note(ticket, "rejected", status: nil, detail: "", now)
        fail(ticket, after: nil, isCharged: true, now)
        refreshCrowd(index)
        refreshPauses()
    }

    /// Ends a record that was taken.
    mutating func finish(_ ticket: Ticket) {
        unload(ticket)
        acknowledge(ticket)
        release(ticket)
    }

    /// A record no longer has to be sent.
    private mutating func unload(_ ticket: Ticket) {
        let index = records[ticket].destination
        if index >= 0 { destinations[index].load -= 1 }
    }

    private mutating func acknowledge(_ ticket: Ticket) {
        let partition = records[ticket].partition
        partitions.acknowledge(records[ticket].position, of: partition)
        refreshWindow(partition)
    }

    private mutating func release(_ ticket: Ticket) {
        let index = records[ticket].destination
        if index >= 0 { destinations[index].records -= 1 }
        partitions[records[ticket].partition].records -= 1
        released.append(ticket.slot)
        records.remove(ticket)
    }

    // MARK: Giving back

    func isLeaving(_ ticket: Ticket) -> Bool { partitions[records[ticket].partition].isLeaving }

    /// Forgets a record that is in no queue, without acknowledging it: whoever reads the partition next reads it again.
    mutating func giveBack(_ ticket: Ticket) {
        if records[ticket].state != .ending { unload(ticket) }
        counters.givenBack += 1
        release(ticket)
    }

    /// Gives back every record for which `isMeant`, whatever state it is in.
    mutating func giveBackAll(where isMeant: (borrowing RecordTable.Entry) -> Bool) {
        for slot in records.entries.indices
        where records.entries[slot].state != .free && isMeant(records.entries[slot]) {
            let ticket = records.ticket(at: Int32(slot))
            if records[ticket].state == .queued {
                records.remove(ticket, from: &destinations[records[ticket].destination].queue)
            }
            giveBack(ticket)
        }
        for index in destinations.states.indices { refreshCrowd(index) }
        refreshPauses()
    }
}
