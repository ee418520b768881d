/// What is told of a dead letter: what filters ask for and lists show, and no more than that.
///
/// Nothing in here is personal: the user is a digest, and neither value nor pushkey appear.
package struct DeadLetterFacts: Hashable, Sendable {
    /// Where the letter lies in its topic.
    package var partition: Int32
    package var offset: Int64
    /// The story that its headers tell.
    package var history: FailureHistory
    /// Where it failed; the topic's stage where the headers do not say.
    package var stage: FailureStage
    /// Origin of the gateway that it was for.
    package var gateway: String?
    package var app: String?
    package var channel: String?
    /// The user's digest.
    package var user: String?
    /// CloudEvents id of the event.
    package var event: String?
    /// When it failed last, or was made where the headers do not say.
    package var failedAt: Timestamp

    package init(
        partition: Int32,
        offset: Int64,
        history: FailureHistory,
        stage: FailureStage,
        failedAt: Timestamp
    ) {
        self.partition = partition
        self.offset = offset
        self.history = history
        self.stage = stage
        self.failedAt = failedAt
    }

    package var reason: DeadLetterReason? { history.reason }
}
