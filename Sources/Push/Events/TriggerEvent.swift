/// Something happened to a user in the Fachdienst: a CloudEvent 1.0 with what the pipeline needs of it, checked.
///
/// Text is kept as the bytes it came as, valid UTF-8 without control characters and within its limit; the content is
/// opaque. The pair of source and id names the event: the same pair always gives the same notification ids.
///
/// | attribute | required | limit |
/// |---|---|---|
/// | `specversion` | yes | exactly `1.0` |
/// | `id`, `source`, `type` | yes | 1 to 256 bytes each |
/// | `subject` = user | yes | ``UserID`` |
/// | `time` | no | RFC 3339 |
/// | `channel` | no, else by `type` | ``ChannelID`` |
/// | `priority` | no | `high` or `low` |
/// | `expirytime` | no | RFC 3339 |
/// | `identifier` | no | 1 to 128 bytes |
/// | `traceparent` | no | W3C Trace Context; ignored if malformed, as that document demands |
///
/// Source: CloudEvents 1.0.2, and its Kafka binding and JSON format; the limits of id, source and type are ours, so
/// that a notification's headers are bounded.
package struct TriggerEvent: Hashable, Sendable {
    package var id: [UInt8]
    package var source: [UInt8]
    package var type: [UInt8]
    package var user: [UInt8]
    /// nil: by `type`, through the table of trigger types.
    package var channel: [UInt8]?
    /// nil: the receiver's default, which is high.
    package var priority: Priority?
    /// `time`, else the record's timestamp.
    package var created: Timestamp
    /// `expirytime`, else ``defaultLifetime`` after ``created``.
    package var expires: Timestamp
    /// An unencrypted reference for the history feature.
    package var identifier: [UInt8]?
    package var traceparent: [UInt8]?
    /// What is sealed, as it is: at most ``PlaintextFrame/maximumPayloadLength`` bytes.
    package var content: [UInt8]

    /// Bytes of `id`, `source` and `type`.
    package static let textLimit = 256
    /// Bytes of `identifier`; ZETA Guard allows its `reference` as much.
    package static let identifierLimit = 128
    /// 12 hours: how long a Fachdienst keeps trying (A_28473, gemF_PushNotification).
    package static let defaultLifetime = Duration.seconds(12 * 3600)

    /// Whether there is no point in sending it any more.
    package func isExpired(at now: Timestamp) -> Bool {
        expires <= now
    }
}

/// What a record of the triggers topic turned out to be.
package enum TriggerRecord: Hashable, Sendable {
    case event(TriggerEvent)
    /// A record with a null value: nothing to do but to count it.
    case tombstone
}

/// Why a record or a line is no trigger event.
///
/// Names the attribute and the rule, never the value: a value may be personal.
package struct TriggerEventError: Error, Hashable, Sendable {
    /// The dead letter's reason.
    package var reason: DeadLetterReason
    /// The attribute at fault, in its CloudEvents name; nil if it is the event as a whole.
    package var attribute: String?
    /// What is wrong, for people.
    package var problem: String

    package init(_ reason: DeadLetterReason, attribute: String? = nil, _ problem: String) {
        self.reason = reason
        self.attribute = attribute
        self.problem = problem
    }

    package var isRetriable: Bool { false }
}

extension TriggerEventError: CustomStringConvertible {
    package var description: String {
        attribute.map { "\($0): \(problem)" } ?? problem
    }
}
