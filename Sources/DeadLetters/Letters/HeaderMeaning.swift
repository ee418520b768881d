internal import Push

/// What the headers of dead letters mean, in words, and which of them may be shown.
///
/// A closed list: a header that is not on it is somebody else's and may hold anything, so only its length is shown.
package enum HeaderMeaning {
    /// Nil for a header that is not known here.
    package static func text(of name: String) -> String? {
        if let header = FailureHeader(rawValue: name) { return text(of: header) }
        return known[name]
    }

    /// Whether a header names the user.
    package static func namesUser(_ name: String) -> Bool { name == "user" || name == "ce_subject" }

    private static let known: [String: String] = [
        "id": "notification id, the same over every retry and replay",
        "user": "whose pusher it is for, as a digest",
        "gateway": "where it is sent to",
        "format": "form of its bytes",
        "app": "app of the pusher",
        "channel": "kind of event",
        "event": "CloudEvents id of the event",
        "source": "CloudEvents source of the event",
        "month": "of the key that it is sealed under",
        "registered": "when the pusher was registered, Unix milliseconds",
        "created": "when the event happened, Unix milliseconds",
        "expires": "when its time is over, Unix milliseconds",
        ReplayedRecord.originalExpiry: "the expiry that it had before it was forced",
        "traceparent": "W3C trace that the event belongs to",
        "content-type": "type of the value",
        "ce_specversion": "CloudEvents version",
        "ce_id": "CloudEvents id",
        "ce_source": "CloudEvents source",
        "ce_type": "CloudEvents type",
        "ce_subject": "the user, as a digest",
        "ce_time": "when the event happened",
        "ce_channel": "kind of event",
        "ce_priority": "high or low",
        "ce_expirytime": "when its time is over",
    ]

    private static func text(of header: FailureHeader) -> String {
        switch header {
        case .originalTopic: "topic in which it failed first"
        case .originalPartition: "partition in which it failed first"
        case .originalOffset: "offset at which it failed first"
        case .originalTimestamp: "its timestamp there, Unix milliseconds"
        case .originalConsumerGroup: "who read it there"
        case .reason: "why it is not tried again"
        case .detail: "what exactly was wrong"
        case .httpStatus: "of the gateway's last answer"
        case .attempts: "how often it was tried since it came or was replayed"
        case .firstFailedAt: "when it failed first"
        case .lastFailedAt: "when it failed last"
        case .stage: "where it failed last"
        case .replayCount: "how often it was replayed"
        case .replayID: "by which replay last"
        }
    }
}
