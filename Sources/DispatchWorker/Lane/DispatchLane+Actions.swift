internal import HTTPClient
internal import Kafka
internal import Lanes
internal import Push
internal import Telemetry

/// Does what the engine asks for.
extension DispatchLane {
    mutating func act(_ now: Now) throws(DispatchError) {
        while let action = engine.nextAction(now: now) {
            switch action {
            case .send(let batch): try send(batch, now)
            case .deadLetter(let ticket, let letter): bury(ticket, letter, now)
            case .handOver(let ticket, let handOver): self.handOver(ticket, handOver, now)
            case .reject(let ticket): reject(ticket)
            case .pause(let partition): book.want(partition, false)
            case .resume(let partition): book.want(partition, !isDraining)
            case .alarm(let destination, let reason): stop(destination, reason)
            case .recovered(let destination): recover(destination)
            }
        }
        settleRejections(now)
    }

    // MARK: - Sending

    private mutating func send(_ batch: OutboundBatch, _ now: Now) throws(DispatchError) {
        guard let route = routes[batch.destination] else {
            engine.complete(batch.id, BatchReport(.fault(.configuration)), now: now)
            return
        }
        if gateways[route.origin] == nil { refreshGateways() }
        guard let access = gateways[route.origin] else {
            engine.complete(batch.id, unlisted(batch), now: now)
            return
        }
        do throws(ClientError) {
            guard let report = try transport.send(batch, to: route, access, engine) else { return }
            route.metrics.request(report.result.name)
            log.warning(
                "not_sent",
                ["gateway": .text(route.origin.text), "reason": .text(report.detail)]
            )
            engine.complete(batch.id, report, now: now)
        } catch {
            throw .http(error)
        }
    }

    /// What becomes of notifications whose gateway is not on the operator's list.
    ///
    /// The list has just been read again, so that it is newer than any of them: they are dead letters, to be replayed when the gateway is
    /// back on the list. If it could not be read, its word does not count: the destination stops, as for any fault of configuration.
    private func unlisted(_ batch: OutboundBatch) -> BatchReport {
        guard database.trouble == nil else {
            return BatchReport(.fault(.configuration), detail: "the gateway is not on the list as last known")
        }
        let answers = batch.tickets.compactMap { ticket in
            engine.payload(of: ticket).map {
                ItemAnswer(id: $0.id, outcome: .faulty(.unknownGateway))
            }
        }
        return BatchReport(.answered(answers), detail: "the gateway is not on the list")
    }

    private mutating func stop(_ destination: Push.Destination, _ reason: Breaker.Reason) {
        guard let route = routes[destination] else { return }
        if !route.isStopped {
            routes[destination]?.isStopped = true
            route.metrics.stopped.add(1)
        }
        route.metrics.stop(reason.name)
        log.warning(
            "gateway_stopped",
            [
                "gateway": .text(route.origin.text), "format": .text(route.format.rawValue),
                "reason": .text(reason.name),
            ]
        )
    }

    private mutating func recover(_ destination: Push.Destination) {
        guard let route = routes[destination], route.isStopped else { return }
        routes[destination]?.isStopped = false
        route.metrics.stopped.add(-1)
        log.info(
            "gateway_recovered",
            ["gateway": .text(route.origin.text), "format": .text(route.format.rawValue)]
        )
    }

    // MARK: - Endings

    private mutating func bury(_ ticket: Ticket, _ letter: DeadLetter, _ now: Now) {
        guard let outgoing = engine.payload(of: ticket) else { return }
        let group = settings.topics.dispatchGroup
        let failure = FailureRecord(outgoing.record, letter, group: group, now: now.wall)
        write(failure, ticket, letter.reason, to: settings.topics.notificationDeadLetters, now)
    }

    private mutating func handOver(_ ticket: Ticket, _ handOver: HandOver, _ now: Now) {
        let topics = settings.topics.retries
        guard let outgoing = engine.payload(of: ticket), let last = topics.indices.last else { return }
        let group = settings.topics.dispatchGroup
        let failure = FailureRecord(outgoing.record, handOver, group: group, now: now.wall)
        write(failure, ticket, nil, to: topics[min(max(handOver.step, 0), last)], now)
    }

    private mutating func write(
        _ failure: FailureRecord,
        _ ticket: Ticket,
        _ reason: DeadLetterReason?,
        to topic: String,
        _ now: Now
    ) {
        do throws(KafkaError) {
            try writer.write(failure, ticket, reason: reason, to: topic)
        } catch {
            noteUnwritten(ticket, error, now)
        }
    }

    /// Ends the records whose dead letters and hand-overs the broker has.
    mutating func settleWrites(_ now: Now) {
        for result in writer.takeResults() {
            if result.isToBeCut {
                engine.confirmationFailed(result.ticket, now: now)
                continue
            }
            if let error = result.error {
                noteUnwritten(result.ticket, error, now)
                continue
            }
            health.set(.endingsUnwritable, false)
            // A record that was given back meanwhile will be counted by whoever ends it.
            guard engine.payload(of: result.ticket) != nil else { continue }
            if let reason = result.reason { metrics.buried(reason) } else { metrics.handedOver.increment() }
            engine.confirm(result.ticket)
        }
    }

    private mutating func noteUnwritten(_ ticket: Ticket, _ error: KafkaError, _ now: Now) {
        health.set(.endingsUnwritable, true)
        log.error("dead_letter_unwritable", ["error": .description(of: error)])
        engine.confirmationFailed(ticket, now: now)
    }

    // MARK: - Commits

    mutating func commitIfDue() throws(DispatchError) {
        if let fatal = writer.fatalError { throw .kafka(fatal) }
        guard Monotonic.now() >= nextCommit else { return }
        nextCommit = Monotonic.deadline(after: settings.commitInterval)
        offsets.note(engine.takeProgress(), book)
        noteMarkers()
        commit(within: .seconds(1))
    }

    /// Moves the offsets to commit past the transaction markers behind the last record of a partition.
    ///
    /// Nobody is handed a marker, so no record that ends moves past it, and a group that has done all its work would look behind for ever.
    /// Only where the engine has taken whatever was handed out: not while it drains, and not in a rebalance.
    mutating func noteMarkers() {
        guard !isDraining, revocation == nil, !consumer.isRebalancePending else { return }
        let idle = book.all.filter { place in book[place].map { engine.isIdle($0) } ?? false }
        guard !idle.isEmpty, let positions = try? consumer.position(idle) else { return }
        offsets.note(
            positions.compactMap { place, offset in book[place].map { (partition: $0, offset: offset) } },
            book
        )
    }

    /// Commits what has ended; what cannot be committed now is tried again with the next commit.
    mutating func commit(within timeout: Duration) {
        guard !offsets.isEmpty else { return }
        do throws(KafkaError) {
            try consumer.commit(offsets.offsets, timeout: timeout)
            offsets.markCommitted()
            metrics.commits.increment()
            health.set(.kafkaAway, false)
        } catch {
            metrics.commitFailures.increment()
            log.warning("commit_failed", ["error": .description(of: error)])
            // The others of the group have them; the consumer will say so.
            if error.isStaleMember { return }
            health.set(.kafkaAway, true)
            nextCommit = Monotonic.deadline(after: timeout * 5)
        }
    }
}
