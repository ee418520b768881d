internal import Kafka
internal import Lanes
internal import Push
internal import Telemetry

/// What has ended is committed, partitions that are taken away are given back, and the lane tells how it is.
extension DispatchLane {
    mutating func commitIfDue() throws(DispatchError) {
        if let fatal = writer.fatalError { throw .kafka(fatal) }
        guard Monotonic.now() >= nextCommit else { return }
        nextCommit = Monotonic.deadline(after: settings.commitInterval)
        noteProgress()
        if !isDraining { live.noteMarkers(engine) }
        live.commit(within: .seconds(1), metrics)
        retries.commit(within: .seconds(1), metrics)
        let isFailing = live.isCommitFailing || retries.isCommitFailing
        health.set(.kafkaAway, isFailing)
        if isFailing { nextCommit = Monotonic.deadline(after: .seconds(5)) }
    }

    /// Takes over what the engine says may be committed.
    mutating func noteProgress() {
        let progress = engine.takeProgress()
        live.offsets.note(progress, live.book)
        retries.offsets.note(progress, retries.book)
    }

    mutating func completeRevocations() throws(DispatchError) {
        guard live.revocation != nil || retries.revocation != nil else { return }
        noteProgress()
        do throws(KafkaError) {
            let isLiveDone = try live.completeRevocation(&engine, metrics)
            let areRetriesDone = try retries.completeRevocation(&engine, metrics)
            guard isLiveDone || areRetriesDone else { return }
        } catch {
            throw .kafka(error)
        }
        shelf.forget(allBut: retries.book.all)
        writer.forgetCuts()
        // What failed is perhaps no longer this lane's to write; if it is, it will fail again.
        unwritable.removeAll()
        tellUnwritable()
    }

    // MARK: - Telling

    mutating func report() {
        metrics.add(engine.counters, since: counted)
        counted = engine.counters
        metrics.inFlight(ofLane: context.index)?.set(engine.recordCount)
        let now = Monotonic.now()
        guard now >= nextReport else { return }
        nextReport = now + 1_000_000_000
        for trouble in writer.takeTroubles() {
            log.warning("producer_trouble", ["error": .description(of: trouble)])
        }
        if !isDraining { topics.lookIfDue(&health) }
        reportLag()
    }

    private mutating func reportLag() {
        if let lag = try? live.consumer.lag(live.book.all) {
            metrics.lag(ofLane: context.index)?.set(Int(lag.values.reduce(0, +)))
        }
        let waiting = retries.book.all
        if !isDraining, let positions = try? retries.consumer.position(waiting) {
            let unread = topics.backlog(waiting, read: positions)
            metrics.retryLag(ofLane: context.index)?.set(unread + shelf.count)
        }
        let overdue = shelf.overdue(Now.now().wall).components
        metrics.retryOverdue(ofLane: context.index)?.set(
            Double(overdue.seconds) + Double(overdue.attoseconds) * 1e-18
        )
    }
}
