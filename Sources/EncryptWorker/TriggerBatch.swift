internal import Kafka
internal import Push

/// One batch of trigger records, sorted into events to look up and records that are dead letters; reused turn after turn.
struct TriggerBatch {
    /// Every record, in the order read.
    var records: [Record] = []
    /// The events to look up, with the index of the record that each came in.
    private(set) var events: [(record: Int, event: TriggerEvent)] = []
    private(set) var deadLetters: [(record: Int, reason: DeadLetterReason, detail: String)] = []
    private(set) var expiredCount = 0

    mutating func removeAll() {
        records.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
        deadLetters.removeAll(keepingCapacity: true)
        expiredCount = 0
    }

    /// Reads every record; nothing that one can hold stops the others.
    mutating func sort(now: Timestamp) {
        for index in records.indices { sort(index, now) }
    }

    /// Makes a dead letter of the record of an event that turned out unusable.
    mutating func deadLetter(event index: Int, _ reason: DeadLetterReason, _ detail: String) {
        let record = events[index].record
        // Several pushers of one event can be at fault; the record is still one.
        guard !deadLetters.contains(where: { $0.record == record }) else { return }
        deadLetters.append((record, reason, detail))
    }

    /// The lookup found neither the channel that the event names nor one for its type.
    mutating func deadLetterForUnknownChannel(event index: Int) {
        if events[index].event.channel != nil {
            deadLetter(event: index, .unknownChannel, "channel: does not exist")
        } else {
            deadLetter(event: index, .unknownType, "type: belongs to no channel, and the event names none")
        }
    }

    private mutating func sort(_ index: Int, _ now: Timestamp) {
        var reader = TriggerEventReader()
        records[index].headers.forEachLent { name, value, isNull in
            reader.take(header: name, value, isNull: isNull)
        }
        do throws(TriggerEventError) {
            let record = try reader.finish(
                value: records[index].value,
                recordTimestamp: records[index].timestamp ?? -1,
                now: now
            )
            switch record {
            case .tombstone: deadLetters.append((index, .tombstone, "the record has no value"))
            case .event(let event) where event.isExpired(at: now): expiredCount += 1
            case .event(let event): events.append((index, event))
            }
        } catch {
            deadLetters.append((index, error.reason, error.description))
        }
    }

    /// Where each partition of the batch begins, to go back to.
    var firstOffsets: [TopicPartitionOffset] {
        var first: [TopicPartition: Int64] = [:]
        for record in records { first[record.place] = min(first[record.place] ?? .max, record.offset) }
        return first.map { TopicPartitionOffset($0.key, offset: $0.value) }
    }

    /// What to commit once the batch is done: one behind the last record of each partition.
    var nextOffsets: [TopicPartitionOffset] {
        var next: [TopicPartition: Int64] = [:]
        for record in records { next[record.place] = max(next[record.place] ?? 0, record.offset + 1) }
        return next.map { TopicPartitionOffset($0.key, offset: $0.value) }
    }
}
