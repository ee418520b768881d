internal import Kafka
internal import Push

/// A trigger record as it goes to the dead letters: key, value, timestamp and headers as they were, and beside them what went wrong.
enum TriggerDeadLetter {
    /// The record's headers without failure headers of an earlier round, followed by today's.
    static func headers(
        of record: Record,
        _ reason: DeadLetterReason,
        _ detail: String,
        group: String,
        naming: DeadLetterNaming,
        now: Timestamp
    ) -> Headers {
        var history = FailureHistory()
        var headers = Headers()
        for header in record.headers where !history.take(header: header.name, header.value) {
            headers.append(header)
        }
        history.attempts += 1
        history.note(
            reason,
            detail: detail,
            stage: .encrypt,
            at: RecordPlace(
                topic: record.topic,
                partition: record.partition,
                offset: record.offset,
                timestamp: record.timestamp ?? -1,
                consumerGroup: group
            ),
            now: now
        )
        for header in history.headers(naming: naming) { headers.append(name: header.name, header.value) }
        return headers
    }
}
