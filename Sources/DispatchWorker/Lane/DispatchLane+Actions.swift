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
            case .recall(let batch): transport.recall(batch, &engine, now)
            case .deadLetter(let ticket, let letter): bury(ticket, letter, now)
            case .handOver(let ticket, let handOver): self.handOver(ticket, handOver, now)
            case .reject(let ticket): reject(ticket)
            case .pause(let partition): want(partition, false)
            case .resume(let partition): want(partition, !isDraining)
            case .alarm(let destination, let reason): stop(destination, reason)
            case .recovered(let destination): recover(destination)
            }
        }
        settleRejections(now)
    }

    /// The partition is one of either inlet; the other does not know it.
    private mutating func want(_ partition: Partition, _ isWanted: Bool) {
        live.book.want(partition, isWanted)
        retries.book.want(partition, isWanted)
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
        routes[destination]?.noteStop(reason)
        guard let route = routes[destination] else { return }
        let fields: LogFields = [
            "gateway": .text(route.origin.text), "format": .text(route.format.rawValue),
            "reason": .text(reason.name), "detail": .text(transport.trouble(at: destination)),
        ]
        // Other reasons pass by themselves; a fault waits for a person.
        if case .fault = reason {
            log.error("gateway_stopped", fields)
        } else {
            log.warning("gateway_stopped", fields)
        }
    }

    private mutating func recover(_ destination: Push.Destination) {
        guard routes[destination]?.noteRecovery() == true, let route = routes[destination] else { return }
        log.info(
            "gateway_recovered",
            ["gateway": .text(route.origin.text), "format": .text(route.format.rawValue)]
        )
    }

    // MARK: - Endings

    private mutating func bury(_ ticket: Ticket, _ letter: DeadLetter, _ now: Now) {
        guard let outgoing = engine.payload(of: ticket) else { return }
        let group = group(of: outgoing.record)
        let failure = FailureRecord(outgoing.record, letter, group: group, now: now.wall)
        write(failure, ticket, letter.reason, to: names.deadLetters, now)
    }

    private mutating func handOver(_ ticket: Ticket, _ handOver: HandOver, _ now: Now) {
        guard let outgoing = engine.payload(of: ticket) else { return }
        let group = group(of: outgoing.record)
        let failure = FailureRecord(outgoing.record, handOver, group: group, now: now.wall)
        write(failure, ticket, nil, to: names.retry(handOver.step), now)
    }

    /// Who has read the record.
    private func group(of record: Record) -> String {
        record.topic == names.notifications ? live.group : retries.group
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
            noteUnwritten(ticket, topic, error, now)
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
                noteUnwritten(result.ticket, result.topic, error, now)
                continue
            }
            noteWritten(result.topic)
            // A record that was given back meanwhile will be counted by whoever ends it.
            guard engine.payload(of: result.ticket) != nil else { continue }
            if let reason = result.reason { metrics.buried(reason) } else { metrics.handedOver.increment() }
            engine.confirm(result.ticket)
        }
    }

    private mutating func noteUnwritten(_ ticket: Ticket, _ topic: String, _ error: KafkaError, _ now: Now) {
        engine.confirmationFailed(ticket, now: now)
        // The producer has as much as it can hold: the broker is slow, and what it has will tell more.
        if error.isQueueFull { return }
        log.error("dead_letter_unwritable", ["topic": .text(topic), "error": .description(of: error)])
        unwritable.insert(topic)
        tellUnwritable()
    }

    private mutating func noteWritten(_ topic: String) {
        guard unwritable.remove(topic) != nil else { return }
        log.info("dead_letter_writable", ["topic": .text(topic)])
        tellUnwritable()
    }

    mutating func tellUnwritable() {
        health.set(.endingsUnwritable, !unwritable.isEmpty)
        metrics.unwritable(ofLane: context.index)?.set(unwritable.isEmpty ? 0 : 1)
    }
}
