internal import Kafka
internal import Lanes
internal import Push
internal import Telemetry

/// New notifications come in.
extension DispatchLane {
    /// How long the engine may be full before partitions are paused and polled: long enough for a batch to come back, and far below
    /// `max.poll.interval.ms`.
    private static let patience: Int64 = 500_000_000

    mutating func read(_ now: Now) throws(DispatchError) {
        live.hasMore = false
        // Between a revocation and its completion there is nothing to read.
        guard live.revocation == nil else { return }
        let room = engine.room
        if room == 0 {
            let since = fullSince ?? Monotonic.now()
            fullSince = since
            guard isDraining || Monotonic.now() - since >= Self.patience else { return }
        } else {
            fullSince = nil
        }
        live.applyPauses()
        let limit = max(min(room, settings.pollLimit), 1)
        for event in try poll(limit: limit) {
            switch event {
            case .assigned:
                health.set(.starting, false)
                health.set(.topicMissing, false)
            case .failed(let error, _) where error.isUnknownTopic:
                health.set(.topicMissing, true)
            case .revoked, .lost, .failed: break
            }
        }
        // What comes from a partition that was paused a moment ago is taken all the same: it was read.
        for index in live.records.indices { take(live.records[index], now) }
        live.hasMore = live.records.count >= limit && engine.room > 0
        live.records.removeAll(keepingCapacity: true)
    }

    private mutating func poll(limit: Int) throws(DispatchError) -> [ConsumerEvent] {
        do throws(KafkaError) {
            return try live.poll(limit: limit, &engine, isDraining: isDraining)
        } catch {
            throw .kafka(error)
        }
    }

    private mutating func take(_ record: Record, _ now: Now) {
        guard let partition = live.book.partition(of: record) else { return }
        switch reader.read(record) {
        case .faulty(let reason, let detail):
            condemn(record, partition, reason, detail, now)
        case .notification(let notification):
            enqueue(record, partition, notification, now)
        }
    }

    // MARK: - To the engine

    mutating func enqueue(
        _ record: Record,
        _ partition: Partition,
        _ notification: NotificationRecordReader.Notification,
        _ now: Now
    ) {
        let destination = destination(of: notification, now)
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
                handOvers: notification.handOvers,
                notBefore: notification.notBefore
            ),
            Outgoing(record, notification),
            now: now
        )
    }

    mutating func destination(
        of notification: NotificationRecordReader.Notification,
        _ now: Now
    ) -> Push.Destination {
        let (destination, isNew) = engine.destination(
            for: DestinationKey(address: notification.endpoint, format: notification.format.number),
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
            old?.noteForgotten()
        }
        return destination
    }

    mutating func condemn(
        _ record: Record,
        _ partition: Partition,
        _ reason: DeadLetterReason,
        _ detail: String,
        _ now: Now
    ) {
        engine.condemn(
            partition,
            offset: record.offset,
            Outgoing(condemned: record),
            footprint: Outgoing.footprint(of: record),
            reason: reason,
            detail: detail,
            now: now
        )
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
