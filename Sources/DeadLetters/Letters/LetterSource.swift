package import Push

/// A topic that holds dead letters, and where they go from there.
///
/// | source | topic | replayed to | set aside in |
/// |---|---|---|---|
/// | encrypt | `push.triggers.dlq` | `push.triggers`, and sealed anew | its own topic, marked: plaintext is kept nowhere for longer |
/// | dispatch | `push.notifications.dlq` | `push.notifications` | `push.notifications.parking` |
/// | parking | `push.notifications.parking` | `push.notifications` | – |
package struct LetterSource: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case encrypt
        case dispatch
        case parking
    }

    package let kind: Kind
    package let topic: String
    /// Where letters are replayed to.
    package let target: String
    /// The group that works on ``target``; its lag tells whether there is room for replays.
    package let liveGroup: String
    /// Where letters are parked; nil where they are only marked.
    package let parking: String?
    /// Where what was replayed comes back to when it fails again.
    package let returns: String

    package init(_ kind: Kind, of topics: TopicCatalogue) {
        self.kind = kind
        switch kind {
        case .encrypt:
            topic = topics.triggerDeadLetters
            target = topics.triggers
            liveGroup = topics.encryptGroup
            parking = nil
            returns = topic
        case .dispatch:
            topic = topics.notificationDeadLetters
            target = topics.notifications
            liveGroup = topics.dispatchGroup
            parking = topics.parking
            returns = topic
        case .parking:
            topic = topics.parking
            target = topics.notifications
            liveGroup = topics.dispatchGroup
            parking = nil
            returns = topics.notificationDeadLetters
        }
    }

    /// Where letters without a stage of their own failed.
    package var stage: FailureStage { kind == .encrypt ? .encrypt : .dispatch }

    /// Values are plaintext: neither shown nor moved to where they are kept for longer.
    package var holdsPlaintext: Bool { kind == .encrypt }
}
