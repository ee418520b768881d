internal import Kafka
internal import Lanes
internal import Push
internal import Telemetry

/// Records come in, and partitions come and go.
extension DispatchLane {
    /// How long the engine may be full before partitions are paused and polled: long enough for a batch to come back, and far below
    /// `max.poll.interval.ms`.
    private static let patience: Int64 = 500_000_000

    mutating func read(_ now: Now) throws(DispatchError) {
        hasMore = false
        // Between a revocation and its completion there is nothing to read.
        guard revocation == nil else { return }
        let room = engine.room
        if room == 0 {
            let since = fullSince ?? Monotonic.now()
            fullSince = since
            guard isDraining || Monotonic.now() - since >= Self.patience else { return }
        } else {
            fullSince = nil
        }
        applyPauses()
        let limit = max(min(room, settings.pollLimit), 1)
        try poll(limit: limit)
        // What comes from a partition that was paused a moment ago is taken all the same: it was read.
        for index in records.indices { take(records[index], now) }
        hasMore = records.count >= limit && engine.room > 0
        records.removeAll(keepingCapacity: true)
    }

    private mutating func poll(limit: Int) throws(DispatchError) {
        let events: [ConsumerEvent]
        do throws(KafkaError) {
            events = try consumer.poll(into: &records, limit: limit, wait: .zero)
        } catch {
            throw .kafka(error)
        }
        for event in events { note(event) }
    }

    /// Tells librdkafka which partitions to read; a refusal leaves them as they are, which costs memory and nothing else.
    mutating func applyPauses() {
        let changes = book.takeChanges()
        do throws(KafkaError) {
            if !changes.pause.isEmpty { try consumer.pause(changes.pause) }
            if !changes.resume.isEmpty { try consumer.resume(changes.resume) }
        } catch {
            log.warning("pause_failed", ["error": .description(of: error)])
        }
    }

    // MARK: - Records

    private mutating func take(_ record: Record, _ now: Now) {
        guard let partition = book.partition(of: record) else { return }
        switch reader.read(record) {
        case .faulty(let reason, let detail):
            condemn(record, partition, reason, detail, now)
        case .notification(let notification):
            let key = DestinationKey(address: notification.endpoint, format: notification.format.number)
            let (destination, isNew) = engine.destination(
                for: key,
                limits: settings.limits(notification.format),
                now: now
            )
            if isNew {
                let old = routes.add(
                    destination,
                    endpoint: notification.endpoint,
                    notification.format,
                    metrics
                )
                if old?.isStopped == true { old?.metrics.stopped.add(-1) }
            }
            guard routes[destination] != nil else {
                condemn(record, partition, .malformedNotification, routes.problem(destination), now)
                return
            }
            engine.enqueue(
                OutboundRecord(
                    partition: partition,
                    offset: record.offset,
                    destination: destination,
                    id: notification.id,
                    byteCount: record.valueCount ?? 0,
                    footprint: Outgoing.footprint(of: record),
                    expires: notification.expires,
                    attempts: notification.attempts,
                    handOvers: notification.handOvers
                ),
                Outgoing(record, notification.id, notification.format),
                now: now
            )
        }
    }

    private mutating func condemn(
        _ record: Record,
        _ partition: Partition,
        _ reason: DeadLetterReason,
        _ detail: String,
        _ now: Now
    ) {
        engine.condemn(
            partition,
            offset: record.offset,
            Outgoing(record, NotificationID(UUIDBytes(high: 0, low: 0)), nil),
            footprint: Outgoing.footprint(of: record),
            reason: reason,
            detail: detail,
            now: now
        )
    }

    // MARK: - Partitions

    private mutating func note(_ event: ConsumerEvent) {
        switch event {
        case .assigned(let places):
            for place in places { book.add(place, as: engine.assign()) }
            if isDraining { book.wantNone() }
            health.set(.starting, false)
            health.set(.topicMissing, false)
            log.info("assigned", ["partitions": .integer(places.count)])
        case .revoked(let places):
            log.info("revoked", ["partitions": .integer(places.count)])
            for place in places {
                if let partition = book[place] { engine.relinquish(partition) }
            }
            revocation = Revocation(
                places: places,
                deadline: Monotonic.deadline(after: settings.revocationGrace)
            )
        case .lost(let places):
            log.warning("lost", ["partitions": .integer(places.count)])
            revocation = Revocation(places: places, deadline: 0)
        case .failed(let error, _):
            if error.isUnknownTopic { health.set(.topicMissing, true) }
            log.warning("consumer_trouble", ["error": .description(of: error)])
        }
    }

    /// Gives revoked partitions back once what was under way has ended, or when it has taken too long.
    ///
    /// What still is under way then is abandoned: whoever reads the partition next sends it again, with the same id.
    mutating func completeRevocation(_ now: Now) throws(DispatchError) {
        guard let revocation else { return }
        let isLost = consumer.isAssignmentLost || revocation.deadline == 0
        let isSettled = engine.batchCount == 0 && writer.pendingCount == 0
        guard isLost || isSettled || Monotonic.now() >= revocation.deadline else { return }
        self.revocation = nil
        if !isLost {
            offsets.note(engine.takeProgress(), book)
            commit(within: .seconds(3))
        }
        // A pause would outlive the revocation, but not the lane's memory of it.
        book.wantAll()
        applyPauses()
        for place in revocation.places {
            if let partition = book.remove(place) { engine.revoke(partition) }
            offsets.forget(place)
        }
        writer.forgetCuts()
        do throws(KafkaError) {
            try consumer.completeRebalance()
        } catch {
            throw .kafka(error)
        }
    }
}

extension NotificationFormat {
    /// What tells destinations of one address apart.
    var number: UInt8 {
        switch self {
        case .gematik12Encrypted: 0
        case .gematik12Plain: 1
        case .concept2024: 2
        }
    }
}
