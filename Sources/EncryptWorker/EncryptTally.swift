internal import Push
internal import Telemetry

/// What a batch came to, counted only once it is committed: a repeated turn must not count twice.
struct EncryptTally {
    var notifications = 0
    var withoutKeys = 0
    var chainsMoved = 0
    private(set) var eventsSealed = 0
    private var isSealed: [Bool]

    init(_ batch: TriggerBatch) {
        isSealed = Array(repeating: false, count: batch.events.count)
    }

    /// Counts a notification of the event at `index`.
    mutating func built(event index: Int) {
        notifications += 1
        if !isSealed[index] {
            isSealed[index] = true
            eventsSealed += 1
        }
    }
}

extension EncryptMetrics {
    func count(_ tally: EncryptTally, _ batch: TriggerBatch, now: Timestamp) {
        turns.increment()
        received.add(batch.records.count)
        batchSize.observe(Double(batch.records.count))
        expired.add(batch.expiredCount)
        withSubscribers.add(tally.eventsSealed)
        let lettersOfEvents = Set(batch.deadLetters.map(\.record)).count
        withoutSubscribers.add(
            max(0, batch.records.count - batch.expiredCount - tally.eventsSealed - lettersOfEvents)
        )
        notifications.add(tally.notifications)
        withoutKeys.add(tally.withoutKeys)
        chainsMoved.add(tally.chainsMoved)
        for letter in batch.deadLetters { deadLetter(letter.reason) }
        for (_, event) in batch.events { age.observe(now.since(event.created)) }
    }
}
