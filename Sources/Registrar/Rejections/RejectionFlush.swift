package import Push

/// Names a gateway and an app: rejections are judged for each such pair by itself, since a wrong credential or topic is one app's at one gateway.
package struct RejectionGateKey: Hashable, Sendable {
    /// The gateway's origin in its canonical text.
    package let origin: String
    package let app: String

    package init(origin: String, app: String) {
        self.origin = origin
        self.app = app
    }
}

extension RejectionGateKey: Comparable {
    /// The order in which gates are locked.
    package static func < (left: RejectionGateKey, right: RejectionGateKey) -> Bool {
        (left.origin, left.app) < (right.origin, right.app)
    }
}

/// What a lane has heard since it last told: counts for each gate, and the rejections to be judged.
///
/// Times are ages in milliseconds when it was made, because only the database's clock counts and a lane does not know it.
package struct RejectionFlush: Sendable {
    package struct Gate: Sendable {
        package var key: RejectionGateKey
        /// ``GateAnswers/acceptedAt`` is left to ``acceptedAge``.
        package var answers: GateAnswers
        /// How long ago the last message was taken; nil: none was.
        package var acceptedAge: Int64?
        /// How long ago the first of those was sent that have been taken: what was rejected before bears them out.
        package var oldestSentAge: Int64
        /// Successes were lost for want of memory, so that nothing can be concluded from what is said against pushers.
        package var isForgetful: Bool

        package init(
            _ key: RejectionGateKey,
            _ answers: GateAnswers = GateAnswers(),
            acceptedAge: Int64? = nil,
            oldestSentAge: Int64 = 0,
            isForgetful: Bool = false
        ) {
            self.key = key
            self.answers = answers
            self.acceptedAge = acceptedAge
            self.oldestSentAge = oldestSentAge
            self.isForgetful = isForgetful
        }
    }

    /// One message that came back with its key rejected.
    package struct Rejection: Sendable {
        package var user: [UInt8]
        package var pusher: PusherID
        package var notification: NotificationID
        /// The registration that the message was for, in Unix milliseconds.
        package var registered: Int64
        package var gate: RejectionGateKey
        /// How long ago it was sent.
        package var sentAge: Int64
        /// What else the same answer said about messages of the app; itself included.
        package var answer: AnswerShare

        package init(
            user: [UInt8],
            pusher: PusherID,
            notification: NotificationID,
            registered: Int64,
            gate: RejectionGateKey,
            sentAge: Int64,
            answer: AnswerShare
        ) {
            self.user = user
            self.pusher = pusher
            self.notification = notification
            self.registered = registered
            self.gate = gate
            self.sentAge = sentAge
            self.answer = answer
        }
    }

    /// A pusher for which messages were taken; told only for gates with open rejections.
    package struct Success: Sendable {
        package var user: [UInt8]
        package var pusher: PusherID
        package var gate: RejectionGateKey

        package init(user: [UInt8], pusher: PusherID, gate: RejectionGateKey) {
            self.user = user
            self.pusher = pusher
            self.gate = gate
        }
    }

    /// When the ages were right.
    let made = ContinuousClock.now
    package var gates: [Gate] = []
    package var rejections: [Rejection] = []
    package var successes: [Success] = []

    package init() {}
}

/// What became of a flush.
package struct RejectionOutcome: Sendable {
    /// How one rejected message ends.
    package enum Ending: String, Sendable, Hashable, CaseIterable {
        /// The pusher and its keys are gone.
        case removed
        /// There is no such pusher any more, or it registered anew since.
        case moot
        /// Kept until other answers bear it out.
        case waiting
        case held
        /// The gateway's entry asks for more rejections: the message is to be tried again.
        case again
    }

    /// In the order of ``RejectionFlush/rejections``.
    package var endings: [Ending] = []
    /// Pushers that were removed, those included whose rejection had been waiting.
    package var removed = 0
    /// Rejections that were held back, those included that had been waiting.
    package var held = 0
    /// Rejections that were forgotten, because messages were taken for their pushers since.
    package var lapsed = 0
    package var changes: [(gate: RejectionGateKey, change: StormGuard.Change)] = []
    /// Of the flush's gates those with open rejections.
    package var open: Set<RejectionGateKey> = []
    /// Of the flush's gates those with waiting ones.
    package var waiting: Set<RejectionGateKey> = []
}
