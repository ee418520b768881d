/// How one attempt to hand over one record ended.
///
/// | outcome | what becomes of the record |
/// |---|---|
/// | accepted | acknowledged |
/// | rejected | the pusher goes, under the rules for deletions; acknowledged |
/// | transient | a later attempt, until expiry or out of attempts |
/// | faulty | dead letter with that reason |
/// | fault | the destination stops; the record is kept and tried later; never a deletion, never a dead letter before its time |
///
/// A refusal of a whole batch is none of these: it is bisected until the item is alone
/// (``GatewayAnswer/refused(_:)``).
package enum Outcome: Hashable, Sendable {
    /// The receiver took the record.
    case accepted
    /// The receiver says that the pushkey it was for is dead.
    case rejected
    /// It may go well later, with the same id; not before `after`, where the receiver said so.
    case transient(TransientCause, after: Timestamp? = nil)
    /// The record itself is at fault and will never go through.
    case faulty(DeadLetterReason)
    /// Something is wrong with the destination or our access to it, which only a person can mend.
    case fault(DestinationFault)
}

/// Why an attempt may go well later.
///
/// The raw values are metric labels and the first word of a dead letter's detail.
package enum TransientCause: String, Hashable, Sendable, CaseIterable {
    /// Status 5xx, or another one that says nothing lasting.
    case serverError = "server_error"
    /// Status 429.
    case throttled
    /// No complete answer within the deadline; the record may have arrived.
    case timeout
    /// Given up before its deadline, because it kept others from being read; the record may have arrived.
    case recalled
    /// No connection, or one that broke; the record may have arrived.
    case connection
    /// The item's result was `failed` without a rejection.
    case itemFailed = "item_failed"
    /// The answer had no result for the item.
    case missingResult = "missing_result"
    /// The answer had results for the item that contradict each other.
    case contradictoryResult = "contradictory_result"
    /// A success whose body cannot be read: HTML from a proxy, empty, truncated.
    case unreadableAnswer = "unreadable_answer"
    /// The destination was at its bounds or its breaker open; the record was not sent.
    case shed
}

/// What only a person can mend.
///
/// The raw values are metric labels and the breaker's reason.
package enum DestinationFault: String, Hashable, Sendable, CaseIterable {
    /// Status 401 or 403, or a TLS handshake that failed for a certificate.
    case credential
    /// Status 404, 405, 406, 415, a redirect: a wrong base path, a proxy.
    case configuration
    /// The origin resolves to an address that the operator does not allow.
    case forbiddenAddress = "forbidden_address"
}
