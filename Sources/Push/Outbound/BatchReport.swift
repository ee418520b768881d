/// Names one batch under way; afterwards it names nothing.
package struct BatchID: Hashable, Sendable {
    let slot: Int32
    let generation: UInt32
}

/// One request to be sent.
package struct OutboundBatch: Hashable, Sendable {
    package var id: BatchID
    package var destination: Destination
    /// In the order of the request; never empty, no id twice.
    package var tickets: [Ticket]
    /// The one request that finds out whether a destination is back.
    package var isProbe: Bool
}

/// How one item of a batch ended, by the receiver's answer.
package struct ItemAnswer: Hashable, Sendable {
    package var id: NotificationID
    package var outcome: Outcome

    package init(id: NotificationID, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }
}

/// How a batch ended.
package enum BatchResult: Hashable, Sendable {
    /// Item by item, in any order. What is missing counts as transient; ids that were not asked about are ignored and counted; results for
    /// the same id that contradict each other count as transient.
    case answered([ItemAnswer])
    /// As a whole, and it may go well later: no connection, timeout, 5xx, 429, an answer that cannot be read; not before `after`, where
    /// the receiver said so.
    case transient(TransientCause, after: Timestamp? = nil)
    /// As a whole, for something in it (400, 413): it is bisected until the item to blame is alone.
    case refused
    /// As a whole, for something that a person has to mend.
    case fault(DestinationFault)
}

/// A batch's result with what a person would want to read about it later.
package struct BatchReport: Hashable, Sendable {
    package var result: BatchResult
    /// The HTTP status, if there was an answer.
    package var status: Int?
    /// What the receiver said, bounded and free of secrets.
    package var detail: String

    package init(_ result: BatchResult, status: Int? = nil, detail: String = "") {
        self.result = result
        self.status = status
        self.detail = detail
    }
}
