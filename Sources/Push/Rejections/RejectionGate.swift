/// What a gateway's rejections for one app have to pass: how it has answered lately and over weeks, and whether rejections are held back.
///
/// A value that is kept in the database, so that all lanes and processes share one. ``StormGuard`` has the rules; time is passed in.
package struct RejectionGate: Hashable, Sendable {
    /// The last minutes.
    package var window: AnswerShare
    /// The last weeks: what is usual here.
    ///
    /// The rejections of a storm are not in it.
    package var history: AnswerShare
    /// Until when both have faded.
    package var countedAt: Timestamp
    /// When a message was last taken.
    package var acceptedAt: Timestamp?
    /// Messages taken since the last rejection.
    package var calm: Int64
    /// Since when every rejection is held back; nil while they are believed one by one.
    package var holdingSince: Timestamp?

    package init(
        window: AnswerShare = AnswerShare(),
        history: AnswerShare = AnswerShare(),
        countedAt: Timestamp,
        acceptedAt: Timestamp? = nil,
        calm: Int64 = 0,
        holdingSince: Timestamp? = nil
    ) {
        self.window = window
        self.history = history
        self.countedAt = countedAt
        self.acceptedAt = acceptedAt
        self.calm = calm
        self.holdingSince = holdingSince
    }

    package var isHolding: Bool { holdingSince != nil }

    /// An operator has decided about what was held: the guard begins anew.
    ///
    /// - Parameter believed: how many of the rejections were right, and so belong to what is usual here.
    package mutating func relearn(believed: Int64) {
        history.rejected += Double(max(believed, 0))
        window.rejected = 0
        holdingSince = nil
    }
}

/// Answers of a gateway for one app that a lane has seen since it last told.
package struct GateAnswers: Hashable, Sendable {
    package var accepted: Int64
    package var rejected: Int64
    /// The answers with rejections in them, each by itself: a burst shows in one answer before it shows in a share.
    package var withRejections: [AnswerShare]
    /// When the last message was taken.
    package var acceptedAt: Timestamp?

    package init(
        accepted: Int64 = 0,
        rejected: Int64 = 0,
        withRejections: [AnswerShare] = [],
        acceptedAt: Timestamp? = nil
    ) {
        self.accepted = accepted
        self.rejected = rejected
        self.withRejections = withRejections
        self.acceptedAt = acceptedAt
    }
}
