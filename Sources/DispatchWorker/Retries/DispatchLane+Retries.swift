internal import Kafka
internal import Lanes
internal import Postgres
internal import Push
internal import Telemetry

/// Notifications come back from the retry topics when their time has come.
///
/// ```
/// retry topics ─▶ shelf, until due ─▶ room? ─▶ pusher still there? ─▶ engine
///                   partition paused             no: dropped, counted
/// ```
///
/// What is due and cannot go on (no room, no database) waits on the shelf, and its partition with it. The live topic is not concerned.
extension DispatchLane {
    /// Records whose pushers are asked for at once.
    private static let checkLimit = 500

    private struct Candidate {
        let record: Record
        let place: TopicPartition
        let partition: Partition
        let content: NotificationRecordReader.Result
    }

    mutating func readRetries(_ now: Now) throws(DispatchError) {
        retries.hasMore = false
        guard retries.revocation == nil else { return }
        let limit = shelf.bytes < settings.retryShelfBytes ? settings.retryPollLimit : 1
        do throws(KafkaError) {
            _ = try retries.poll(limit: limit, &engine, isDraining: isDraining)
        } catch {
            throw .kafka(error)
        }
        health.set(.rightMissing, live.isDenied || retries.isDenied)
        retries.hasMore = !isDraining && retries.records.count >= limit
        if !isDraining {
            for index in retries.records.indices {
                shelf.add(retries.records[index], due: due(retries.records[index], now))
            }
            release(now)
            retries.book.hold(shelf.places)
        }
        retries.records.removeAll(keepingCapacity: true)
        retries.applyPauses()
    }

    /// When a record may be tried, by its header; at once if it has none.
    ///
    /// No record waits longer than its topic's delay with its spread, whatever it says: a wrong clock must not stop a partition.
    private func due(_ record: Record, _ now: Now) -> Timestamp {
        guard let due = RetryHeader.due(of: record) else { return now.wall }
        return min(due, now.wall.adding(names.longestWait(in: record.topic)))
    }

    // MARK: - Release

    /// Gives the engine what is due, as far as it has room, and drops what no longer has a pusher.
    private mutating func release(_ now: Now) {
        guard now.monotonic >= nextRelease, shelf.isDue(now.wall), database.isWorthTrying else { return }
        let candidates = candidates(now)
        // Nothing has room: a lane that turns fast has better things to do than to look again at once.
        if candidates.isEmpty { nextRelease = now.monotonic + .milliseconds(10) }
        guard !candidates.isEmpty, let gone = findGone(candidates) else { return }
        var asked = 0
        for candidate in candidates {
            shelf.removeFirst(1, of: candidate.place)
            metrics.retried.increment()
            switch candidate.content {
            case .faulty(let reason, let detail):
                condemn(candidate.record, candidate.partition, reason, detail, now)
            case .notification(let notification):
                if gone.contains(asked) {
                    engine.skip(candidate.partition, offset: candidate.record.offset)
                    metrics.droppedForPusher()
                } else {
                    enqueue(candidate.record, candidate.partition, notification, now)
                }
                asked += 1
            }
        }
        if candidates.count >= Self.checkLimit { retries.hasMore = true }
    }

    /// What is due at the heads of the partitions and has room in the engine, with half of which the retries make do.
    private mutating func candidates(_ now: Now) -> [Candidate] {
        var held = 0
        for place in retries.book.all {
            if let partition = retries.book[place] { held += engine.recordCount(of: partition) }
        }
        var room = min(engine.room, settings.outbound.maximumRecords / 2 - held, Self.checkLimit)
        var candidates: [Candidate] = []
        for place in shelf.places.shuffled() {
            guard let partition = retries.book[place] else { continue }
            var position = 0
            while room > 0, let entry = shelf.entry(place, at: position), entry.due <= now.wall {
                let content = reader.read(entry.record)
                if case .notification(let notification) = content,
                    !engine.hasRoom(for: destination(of: notification, now))
                {
                    break
                }
                candidates.append(
                    Candidate(record: entry.record, place: place, partition: partition, content: content)
                )
                position += 1
                room -= 1
            }
        }
        return candidates
    }

    /// - Returns: which of the notifications among the candidates have no pusher any more, by their order; nil if the database is away.
    private mutating func findGone(_ candidates: [Candidate]) -> Set<Int>? {
        check.removeAll()
        for candidate in candidates {
            if case .notification(let notification) = candidate.content {
                check.add(Outgoing(candidate.record, notification))
            }
        }
        guard check.count > 0 else { return [] }
        do throws(PostgresError) {
            return try database.run { [check] (connection: inout Connection) throws(PostgresError) in
                try check.gone(&connection)
            }
        } catch {
            log.warning("retries_wait", ["error": .description(of: error)])
            return nil
        }
    }
}
