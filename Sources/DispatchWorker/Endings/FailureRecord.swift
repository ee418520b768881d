internal import Kafka
internal import Push

/// A record that leaves the dispatch topic for the dead letters or for a retry topic: key, value, timestamp and headers as they were, and
/// beside them what went wrong.
struct FailureRecord {
    var record: Record
    private var history = FailureHistory()
    private var original = Headers()
    /// Nil for a dead letter.
    private var handOver: HandOver?

    /// A dead letter.
    init(_ record: Record, _ letter: DeadLetter, group: String, now: Timestamp) {
        self.init(record)
        note(letter.reason, letter.note, attempts: letter.attempts, group, now)
    }

    /// A record on its way to a retry topic.
    init(_ record: Record, _ handOver: HandOver, group: String, now: Timestamp) {
        self.init(record)
        self.handOver = handOver
        note(nil, handOver.note, attempts: handOver.attempts, group, now)
    }

    private init(_ record: Record) {
        self.record = record
        var (original, history) = (Headers(), FailureHistory())
        record.headers.forEachLent { name, value, isNull in
            // Most are the notification's own: nothing is allocated for them.
            if FailureHistory.mayBeOne(name) || RetryHeader.mayBeOne(name) {
                let header = Header(nameBytes: Self.copy(name), value: isNull ? nil : Self.copy(value))
                if history.take(header: header.name, header.value) || RetryHeader.isOne(header.name) {
                    return
                }
            }
            original.append(name: name, value, isNull: isNull)
        }
        (self.original, self.history) = (original, history)
    }

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] { bytes.indices.map { bytes[$0] } }

    private mutating func note(
        _ reason: DeadLetterReason?,
        _ note: FailureNote?,
        attempts: Int,
        _ group: String,
        _ now: Timestamp
    ) {
        history.attempts = attempts
        history.firstFailedAt = history.firstFailedAt ?? note?.firstFailedAt
        // A record that expired or was passed on unsent tells how it failed last, if it ever did.
        let isNews = note.map { $0.cause != TransientCause.shed.rawValue } ?? false
        let cause = note?.cause ?? ""
        let detail = note?.detail ?? ""
        let story = cause.isEmpty || detail.isEmpty ? cause + detail : "\(cause): \(detail)"
        history.note(
            reason,
            detail: isNews || history.detail.isEmpty ? story : history.detail,
            httpStatus: isNews ? note?.status : history.httpStatus,
            stage: .dispatch,
            at: RecordPlace(
                topic: record.topic,
                partition: record.partition,
                offset: record.offset,
                timestamp: record.timestamp ?? -1,
                consumerGroup: group
            ),
            now: isNews ? note?.lastFailedAt ?? now : history.lastFailedAt ?? now
        )
    }

    /// The original headers and, within `budget` bytes, the story of the failure.
    func headers(budget: Int, _ naming: DeadLetterNaming) -> Headers {
        var headers = original
        if budget > 0 {
            for header in history.headers(budget: budget, naming: naming) {
                headers.append(name: header.name, header.value)
            }
        }
        if let handOver {
            headers.append(RetryHeader.count, Array(String(handOver.handOvers).utf8))
            headers.append(RetryHeader.due, Array(String(handOver.due.milliseconds).utf8))
            if let notBefore = handOver.notBefore {
                headers.append(RetryHeader.notBefore, Array(String(notBefore.milliseconds).utf8))
            }
        }
        return headers
    }
}
