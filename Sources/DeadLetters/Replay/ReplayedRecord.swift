internal import Kafka
internal import Push

/// A letter as it is sent again, or set aside.
///
/// Sent again, it is the record that it was: key, value and headers. Of its story only what a further failure must not forget goes
/// along: where and when it failed first, how often it was replayed and by which replay. Without `x-dlq-attempts` the dispatch stage counts
/// its attempts anew. Its timestamp is the replay's, since topics keep records by it; an event without a `time` of its own keeps its
/// old one, from which its expiry is counted.
///
/// Forced beyond its expiry, it gets a new one, and the old one is kept in a header of its own. Set aside, it stays as it is.
struct ReplayedRecord {
    var topic: String
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: Headers
    var timestamp: Int64?

    /// The expiry that a forced letter had.
    static let originalExpiry = "original-expires"

    /// What Spring Kafka writes beside dead letters, all of it about the failure.
    private static let springPrefix = "kafka_dlt-"

    /// A letter to be set aside in `topic`.
    init(parking letter: Letter, in topic: String) {
        self.topic = topic
        key = letter.record.key
        value = letter.record.value
        headers = letter.record.headers
        timestamp = letter.record.timestamp
    }

    /// A letter to be sent again.
    ///
    /// - Parameters:
    ///   - letter: whose subject could be read.
    ///   - source: says where to.
    ///   - replay: its id as text.
    ///   - forcedUntil: a new expiry; nil leaves it the one that it has.
    ///   - now: of the replay.
    init(
        replaying letter: Letter,
        _ source: LetterSource,
        replay: String,
        forcedUntil: Timestamp?,
        now: Timestamp
    ) {
        topic = source.target
        key = letter.record.key
        value = letter.record.value
        timestamp = now.milliseconds
        headers = Headers()
        for header in letter.record.headers
        where !FailureHeader.isOne(header.name) && !header.name.hasPrefix(Self.springPrefix) {
            headers.append(header)
        }
        if case .event(let event) = letter.subject {
            if let forcedUntil {
                force(event, until: forcedUntil, now: now)
            } else if !headers.contains("ce_time") {
                timestamp = letter.record.timestamp
            }
        } else if let forcedUntil {
            replaceExpiry("expires", with: "\(forcedUntil.milliseconds)")
        }
        for header in Self.story(of: letter, replay: replay) {
            headers.append(name: header.name, header.value)
        }
    }

    private static func story(of letter: Letter, replay: String) -> [RecordHeader] {
        var story = FailureHistory()
        story.origin = letter.facts.history.origin
        story.firstFailedAt = letter.facts.history.firstFailedAt
        story.replayCount = letter.facts.history.replayCount + 1
        story.replayID = replay
        return story.headers()
    }

    /// An event in structured mode has its expiry inside its value, and becomes one in binary mode, as `publish` sends them.
    private mutating func force(_ event: TriggerEvent, until expiry: Timestamp, now: Timestamp) {
        if !headers.contains("ce_id"), let value,
            let binary = try? PublishableEvent(structured: value, now: now)
        {
            headers = Headers(headers.filter { $0.name.lowercased() != "content-type" })
            for header in binary.headers { headers.append(name: header.name, header.value) }
            self.value = binary.value
        }
        if !headers.contains("ce_time") { headers.append("ce_time", text: event.created.rfc3339) }
        replaceExpiry("ce_expirytime", with: expiry.rfc3339)
    }

    private mutating func replaceExpiry(_ name: String, with value: String) {
        if let old = headers.value(name), !headers.contains(Self.originalExpiry) {
            headers.append(name: Self.originalExpiry, old)
        }
        headers.remove(name)
        headers.append(name: name, Array(value.utf8))
    }
}
