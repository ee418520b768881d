/// Batches come back: what that says about the destination, and what becomes of each record.
extension OutboundMachine {
    mutating func complete(_ id: BatchID, _ report: BatchReport, _ now: Now) {
        guard let batch = batches.remove(id) else {
            counters.unknownBatches += 1
            return
        }
        switch report.result {
        case .answered(let answers):
            settleAnswers(batch, answers, report, now)
        case .transient(let cause, let after):
            settleFailure(batch, cause, after, report, now)
        case .refused:
            settleRefusal(batch, report, now)
        case .fault(let fault):
            judge(batch, .fault(fault), now)
            noteAll(batch, fault.rawValue, report, now)
            requeueAll(batch, now)
        }
        refreshCrowd(batch.destination)
        touch(batch.destination, now)
        pump(now)
        refreshPauses()
    }

    // MARK: Answered item by item

    private mutating func settleAnswers(
        _ batch: BatchState,
        _ answers: [ItemAnswer],
        _ report: BatchReport,
        _ now: Now
    ) {
        matcher.read(answers, about: batch.items)
        counters.unknownIDs += matcher.unknown
        counters.missingResults += matcher.missing
        counters.contradictoryResults += matcher.contradictory
        judge(batch, verdict(on: matcher.outcomes), now)
        var kept: [Ticket] = []
        for place in batch.items.indices where records.contains(batch.items[place].ticket) {
            let ticket = batch.items[place].ticket
            if case .fault(let fault) = matcher.outcomes[place] {
                note(ticket, fault.rawValue, status: report.status, detail: report.detail, now)
                kept.append(ticket)
            } else {
                settle(ticket, matcher.outcomes[place], report, now)
            }
        }
        requeue(kept, batch.destination, now)
        let held = batch.held.filter { records.contains($0) }
        resend(Piece(items: [], held: held).afterAnswer(), batch.destination, now)
    }

    /// A destination at which nothing went well fails as a whole; a single item's failure is its own.
    private func verdict(on outcomes: [Outcome]) -> Breaker.Verdict {
        var isFailing = true
        for outcome in outcomes {
            switch outcome {
            case .fault(let fault): return .fault(fault)
            case .accepted, .rejected, .faulty: isFailing = false
            case .transient: break
            }
        }
        return isFailing ? .failure : .works
    }

    private mutating func settle(_ ticket: Ticket, _ outcome: Outcome, _ report: BatchReport, _ now: Now) {
        switch outcome {
        case .accepted:
            counters.accepted += 1
            finish(ticket)
        case .rejected:
            counters.rejected += 1
            end(ticket, .rejection)
        case .transient(let cause, let after):
            counters.transient += 1
            note(ticket, cause.rawValue, status: report.status, detail: report.detail, now)
            fail(ticket, after: after, isCharged: true, now)
        case .faulty(let reason):
            counters.faulty += 1
            note(ticket, reason.rawValue, status: report.status, detail: report.detail, now)
            records[ticket].attempts += 1
            bury(ticket, reason, now)
        case .fault:
            break
        }
    }

    // MARK: Failed as a whole

    private mutating func settleFailure(
        _ batch: BatchState,
        _ cause: TransientCause,
        _ after: Timestamp?,
        _ report: BatchReport,
        _ now: Now
    ) {
        if cause == .unreadableAnswer { counters.unreadableAnswers += 1 }
        counters.transient += batch.items.count
        destinations[batch.destination].limit.overload(batch.limitDeparture)
        let isThrottled = cause == .throttled || after != nil
        judge(batch, isThrottled ? .throttled(after?.since(now.wall)) : .failure, now)
        noteAll(batch, cause.rawValue, report, now)
        if isThrottled {
            requeueAll(batch, now)
            return
        }
        for item in batch.items where records.contains(item.ticket) {
            records[item.ticket].sharedFailures += 1
            // A probe that fails says that the destination is still away, which is not the record's doing.
            fail(item.ticket, after: nil, isCharged: !batch.breakerDeparture.isProbe, now)
        }
        requeue(batch.held, batch.destination, now)
    }

    /// Keeps all records of a batch that was not looked at.
    private mutating func requeueAll(_ batch: BatchState, _ now: Now) {
        requeue(batch.items.map(\.ticket) + batch.held, batch.destination, now)
    }

    private mutating func noteAll(_ batch: BatchState, _ cause: String, _ report: BatchReport, _ now: Now) {
        for item in batch.items where records.contains(item.ticket) {
            note(item.ticket, cause, status: report.status, detail: report.detail, now)
        }
    }

    // MARK: Refused as a whole

    private mutating func settleRefusal(_ batch: BatchState, _ report: BatchReport, _ now: Now) {
        counters.refusedBatches += 1
        judge(batch, .works, now)
        var piece = Piece(items: batch.items.map(\.ticket), held: batch.held)
        piece.held.removeAll { !records.contains($0) }
        piece.items.removeAll { !records.contains($0) }
        if batch.items.count == 1, let guilty = piece.items.popLast() {
            counters.faulty += 1
            records[guilty].attempts += 1
            let reason = DeadLetterReason.messageRefused
            note(guilty, reason.rawValue, status: report.status, detail: report.detail, now)
            bury(guilty, reason, now)
        }
        resend(piece.afterRefusal(), batch.destination, now)
    }

    private mutating func resend(_ pieces: [Piece<Ticket>], _ index: Int, _ now: Now) {
        for piece in pieces {
            if case .closed = destinations[index].breaker.state, !isDraining {
                for ticket in piece.items + piece.held { records[ticket].state = .held }
                destinations[index].pieces.append(piece)
            } else {
                requeue(piece.items + piece.held, index, now)
            }
        }
    }

    // MARK: The destination

    /// Tells limit and breaker how a batch ended, and the lane what follows from it.
    private mutating func judge(_ batch: BatchState, _ verdict: Breaker.Verdict, _ now: Now) {
        let index = batch.destination
        destinations[index].limit.arrive()
        if verdict == .works { destinations[index].limit.succeed(batch.limitDeparture) }
        let before = destinations[index].breaker.state
        let change = destinations[index].breaker.conclude(
            batch.breakerDeparture,
            verdict,
            at: now.monotonic,
            jitter: &jitter
        )
        switch change {
        case .opened(let reason):
            if !isAlready(before, reason) { actions.append(.alarm(Destination(index: index), reason)) }
            emptyPieces(index, now)
            shedQueue(index, now)
        case .closed:
            actions.append(.recovered(Destination(index: index)))
        case nil:
            break
        }
    }

    private func isAlready(_ state: Breaker.State, _ reason: Breaker.Reason) -> Bool {
        switch state {
        case .closed: false
        case .open(let earlier, _), .halfOpen(let earlier, _): earlier == reason
        }
    }

    /// What is left of refused batches waits in the queue while nothing may leave.
    private mutating func emptyPieces(_ index: Int, _ now: Now) {
        for piece in destinations[index].pieces.takeAll().reversed() {
            requeue(piece.items + piece.held, index, now)
        }
    }
}
