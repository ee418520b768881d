package import Kafka
package import Push

/// A dead letter as it lies in its topic, and what could be read of it.
package struct Letter: Sendable {
    package let record: Record
    package let facts: DeadLetterFacts
    package let subject: Subject

    /// What the record is about.
    package enum Subject: Sendable {
        case notification(NotificationSubject)
        case event(TriggerEvent)
        /// It is neither, for this reason; the text names a field and a rule.
        case unreadable(DeadLetterReason, String)
    }

    /// Place in its topic, as commands name it: `PARTITION:OFFSET`.
    package var place: String { "\(facts.partition):\(facts.offset)" }

    /// When there is no point in it any more.
    package var expires: Timestamp? {
        switch subject {
        case .notification(let notification): notification.expires
        case .event(let event): event.expires
        case .unreadable: nil
        }
    }

    /// The pushkey that a notification is for, so much of it as may be shown: its beginning and its length.
    package var maskedPushkey: String? {
        guard case .notification(let notification) = subject, let format = notification.format,
            let value = record.value, let key = EncodedNotification.pushkey(in: value, format: format)
        else { return nil }
        return Self.mask(key)
    }

    /// Four bytes tell two keys of a user apart; of a short key they would be too much.
    static func mask(_ pushkey: [UInt8]) -> String {
        let shown = pushkey.count >= 16 ? pushkey.prefix(4).filter { (0x21...0x7e).contains($0) } : []
        return String(decoding: shown, as: UTF8.self) + "…(\(pushkey.count))"
    }
}

/// What a notification's headers say of whom it is for and until when.
package struct NotificationSubject: Hashable, Sendable {
    package var user: [UInt8]
    package var pusher: PusherID
    package var expires: Timestamp
    /// When the pusher was registered, as the encrypt stage read it.
    package var registered: Timestamp
    /// Origin; nil if the address does not read.
    package var gateway: String?
    /// Of the key that it is sealed under; nil if it is not sealed.
    package var month: Month?
    package var format: NotificationFormat?

    package init(
        user: [UInt8],
        pusher: PusherID,
        expires: Timestamp,
        registered: Timestamp,
        gateway: String? = nil,
        month: Month? = nil,
        format: NotificationFormat? = nil
    ) {
        self.user = user
        self.pusher = pusher
        self.expires = expires
        self.registered = registered
        self.gateway = gateway
        self.month = month
        self.format = format
    }
}
