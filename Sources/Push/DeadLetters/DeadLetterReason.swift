/// Why a record is not tried again without a person: the closed set of `x-dlq-reason`.
///
/// Operators filter by these; a raw value, once released, keeps its meaning.
package enum DeadLetterReason: String, Hashable, Sendable, CaseIterable {
    // Stage encrypt: the trigger event.

    /// The record has a null value.
    case tombstone
    /// The record is no CloudEvent, in neither mode.
    case malformed
    /// A required attribute is absent, null or empty.
    case missingAttribute = "missing_attribute"
    /// An attribute is repeated, not text, too long or has a value that is not allowed.
    case invalidAttribute = "invalid_attribute"
    /// The content is longer than what the padded format holds.
    case contentTooLarge = "content_too_large"
    /// The event names no channel and its type is in no channel either.
    case unknownType = "unknown_type"
    /// The event names a channel that does not exist.
    case unknownChannel = "unknown_channel"
    /// A pusher's sealed key chain does not open, or would have to move too far.
    case keyChainUnusable = "key_chain_unusable"

    // Stage dispatch: the notification.

    /// The record lacks what a notification needs.
    case malformedNotification = "malformed_notification"
    /// The notification alone is larger than a request may be.
    case notificationTooLarge = "notification_too_large"
    /// The gateway is no longer on the operator's list.
    case unknownGateway = "unknown_gateway"
    /// The gateway refused the message itself.
    case messageRefused = "message_refused"
    /// The time in which the message makes sense is over.
    case expired
    /// The set number of attempts is used up.
    case outOfAttempts = "out_of_attempts"
    /// The message is sealed under a month whose key the device no longer keeps.
    case keyWindowPassed = "key_window_passed"
}

extension DeadLetterReason: CustomStringConvertible {
    package var description: String { rawValue }
}
