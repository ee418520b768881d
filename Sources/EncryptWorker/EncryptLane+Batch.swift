internal import Kafka
internal import Lanes
internal import Postgres
internal import Push
internal import Telemetry

/// What one batch of trigger events becomes, between polling it and the next poll.
extension EncryptLane {
    /// From sorting the batch to its commit; ``recover(from:)`` undoes what was done if anything fails.
    mutating func process() throws(EncryptError) {
        let now = Timestamp(milliseconds: WallClock.milliseconds())
        batch.sort(now: now)
        builder.beginBatch()
        var tally = EncryptTally(batch)
        if batch.events.isEmpty {
            try begin()
        } else {
            let rows = try askDatabase()
            try begin()
            try produceNotifications(rows, &tally)
        }
        try produceDeadLetters(now)
        try writeBack(&tally)
        try commit(batch.nextOffsets)
        metrics.count(tally, batch, now: Timestamp(milliseconds: WallClock.milliseconds()))
    }

    private mutating func askDatabase() throws(EncryptError) -> Rows {
        let start = Monotonic.now()
        defer { metrics.lookupSeconds.observe(.nanoseconds(Monotonic.now() - start)) }
        do throws(PostgresError) {
            if !connection.isConnected { try connection.ensureConnected(within: .seconds(2)) }
            return try lookup.run(batch.events, on: &connection)
        } catch {
            throw .database(error)
        }
    }

    private mutating func produceNotifications(
        _ rows: borrowing Rows,
        _ tally: inout EncryptTally
    ) throws(EncryptError) {
        guard var event = batch.events.first?.event else { return }
        var eventIndex = 0
        for row in 0..<rows.count {
            let head = try self.head(of: rows, row)
            guard batch.events.indices.contains(head.event) else { continue }
            guard let month = head.month else { throw .absurdMonth(head.monthOrdinal) }
            guard head.hasChannel else {
                batch.deadLetterForUnknownChannel(event: head.event)
                continue
            }
            guard head.hasPusher else { continue }
            // The pushers of an event come one after another, and an event has many parts.
            if head.event != eventIndex {
                eventIndex = head.event
                event = batch.events[eventIndex].event
            }
            switch try builder.build(event, index: head.event, rows, row, month: month) {
            case .built:
                try produce(
                    notificationsTopic,
                    key: builder.record.key,
                    value: builder.record.value,
                    headers: builder.record.headers
                )
                tally.built(event: head.event)
            case .withoutKeys: tally.withoutKeys += 1
            case .faulty(let reason, let detail): batch.deadLetter(event: head.event, reason, detail)
            }
        }
    }

    private func head(of rows: borrowing Rows, _ row: Int) throws(EncryptError) -> SubscriptionLookup.Head {
        do throws(PostgresError) {
            return try SubscriptionLookup.Head(rows, row)
        } catch {
            throw .database(error)
        }
    }

    private mutating func produceDeadLetters(_ now: Timestamp) throws(EncryptError) {
        for (index, reason, detail) in batch.deadLetters {
            let record = batch.records[index]
            let headers = TriggerDeadLetter.headers(
                of: record,
                reason,
                detail,
                group: settings.topics.encryptGroup,
                naming: settings.deadLetterNaming,
                now: now
            )
            try produce(
                settings.topics.triggerDeadLetters,
                key: record.key,
                value: record.value,
                headers: headers,
                timestamp: record.timestamp
            )
        }
    }

    private mutating func writeBack(_ tally: inout EncryptTally) throws(EncryptError) {
        guard !builder.loader.moves.isEmpty else { return }
        do throws(PostgresError) {
            tally.chainsMoved = try builder.loader.writeBack(to: &connection)
        } catch {
            throw .database(error)
        }
    }
}
