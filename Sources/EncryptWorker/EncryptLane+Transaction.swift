internal import Kafka
internal import Lanes
internal import Postgres
internal import Push
internal import Telemetry

/// The Kafka side of a turn, and the way back when it fails.
extension EncryptLane {
    mutating func begin() throws(EncryptError) {
        do throws(KafkaError) {
            try producer.beginTransaction()
            isTransactionOpen = true
        } catch {
            throw failure(error)
        }
    }

    mutating func produce(
        _ topic: String,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: borrowing Headers,
        timestamp: Int64? = nil
    ) throws(EncryptError) {
        do throws(KafkaError) {
            try producer.produce(topic: topic, key: key, value: value, headers: headers, timestamp: timestamp)
        } catch {
            throw failure(error)
        }
    }

    /// Commits outputs and offsets together; while the broker is away it asks again.
    mutating func commit(_ offsets: [TopicPartitionOffset]) throws(EncryptError) {
        let start = Monotonic.now()
        do throws(KafkaError) {
            try untilAnswered { lane throws(KafkaError) in
                let group = try lane.consumer.groupMetadata()
                try lane.producer.sendOffsets(offsets, group: group, timeout: .seconds(5))
            }
            try untilAnswered { lane throws(KafkaError) in
                try lane.producer.commitTransaction(timeout: .seconds(5))
            }
            isTransactionOpen = false
            for offset in offsets { settled[offset.place] = offset.offset }
            metrics.commitSeconds.observe(.nanoseconds(Monotonic.now() - start))
        } catch {
            throw failure(error)
        }
    }

    /// Calls again what may be called again, as long as the transaction can still be alive.
    private mutating func untilAnswered(
        _ call: (inout EncryptLane) throws(KafkaError) -> Void
    ) throws(KafkaError) {
        let deadline = Monotonic.deadline(after: settings.transactionTimeout)
        while true {
            do throws(KafkaError) {
                context.turn()
                return try call(&self)
            } catch {
                guard error.isRetriable, !error.requiresAbort, Monotonic.now() < deadline else { throw error }
                context.notReady("kafka_away")
                tellTroubles()
                log.warning("kafka_away", ["operation": "commit", "error": .description(of: error)])
                if context.pause(for: .milliseconds(100)) { throw error }
            }
        }
    }

    /// What the producer has met beside what its calls say, such as a login that is refused.
    mutating func tellTroubles() {
        producer.poll()
        for trouble in producer.takeTroubles() {
            log.warning("producer_trouble", ["error": .description(of: trouble)])
        }
    }

    // MARK: - The way back

    /// Undoes a turn that failed and waits a little, so that the next one starts where this one did.
    ///
    /// - Throws: the same error when nothing can be undone by this lane.
    mutating func recover(from error: EncryptError) throws(EncryptError) {
        guard error.isRetriable else { throw error }
        if isTransactionOpen { try abort() }
        try putBack()
        switch error {
        case .database:
            metrics.rewound.increment()
            context.notReady("database_away")
        case .missingKey: context.notReady("key_missing")
        case .absurdMonth: context.notReady("absurd_month")
        case .kafka(let error): context.notReady(error.isRightMissing ? "right_missing" : "kafka_away")
        case .sealing, .fenced: context.notReady("kafka_away")
        }
        log.warning(
            "turn_repeated",
            ["error": .description(of: error), "events": .integer(batch.records.count)]
        )
        pause = min(max(pause * 2, .milliseconds(50)), .seconds(5))
        try hold(for: pause)
    }

    private mutating func abort() throws(EncryptError) {
        do throws(KafkaError) {
            try untilAnswered { lane throws(KafkaError) in
                try lane.producer.abortTransaction(timeout: .seconds(5))
            }
            isTransactionOpen = false
            metrics.aborted.increment()
        } catch {
            throw failure(error)
        }
    }

    /// Goes back to the first record of the batch in every partition that is still this lane's.
    private mutating func putBack() throws(EncryptError) {
        for offset in batch.firstOffsets { settled[offset.place] = nil }
        do throws(KafkaError) {
            let mine = Set(try consumer.assignment())
            try consumer.seek(
                to: batch.firstOffsets.filter { mine.contains($0.place) },
                timeout: .seconds(10)
            )
        } catch {
            throw failure(error)
        }
    }

    /// Waits without reading on, but stays in the group: a consumer that does not poll is thrown out.
    ///
    /// It is not ready before a turn has gone well: the trouble is still there for all that is known.
    private mutating func hold(for duration: Duration) throws(EncryptError) {
        let deadline = Monotonic.deadline(after: duration)
        do throws(KafkaError) {
            let held = try consumer.assignment()
            if !held.isEmpty { try consumer.pause(held) }
        } catch {
            throw failure(error)
        }
        repeat {
            context.turn()
            batch.removeAll()
            try poll(wait: min(duration, .milliseconds(100)))
            // Only a partition that came to this lane just now can have been read from.
            if !batch.records.isEmpty { try putBack() }
        } while Monotonic.now() < deadline && !context.stop.isRaised
        batch.removeAll()
        do throws(KafkaError) {
            let mine = try consumer.assignment()
            if !mine.isEmpty { try consumer.resume(mine) }
        } catch {
            throw failure(error)
        }
    }

    func failure(_ error: KafkaError) -> EncryptError {
        error.isFenced ? .fenced(instance: settings.instance) : .kafka(error)
    }
}
