internal import Kafka
internal import Push

/// A record in the lane's hands: what the engine keeps for it until it has ended.
///
/// A class, because the engine hands it about without knowing its type: a reference is cheap to copy.
final class Outgoing: Sendable {
    let record: Record
    /// By which answers name it; nothing for one that was at fault before it had a destination.
    let id: NotificationID
    /// Nil likewise.
    let format: NotificationFormat?
    /// Empty likewise.
    ///
    /// Kept beside the record, whose memory is cold by the time of the answer.
    let app: [UInt8]

    init(_ record: Record, _ notification: NotificationRecordReader.Notification) {
        self.record = record
        id = notification.id
        format = notification.format
        app = notification.app
    }

    /// One that was at fault.
    init(condemned record: Record) {
        self.record = record
        id = NotificationID(UUIDBytes(high: 0, low: 0))
        format = nil
        app = []
    }

    /// Memory that it takes, roughly: its bytes, and what is around them.
    static func footprint(of record: Record) -> Int {
        (record.valueCount ?? 0) + record.headers.byteCount + 512
    }

    /// The bytes of its item or body.
    func withValue<Result>(_ body: (Span<UInt8>) -> Result) -> Result? { record.withValue(body) }

    /// Unix milliseconds of the record.
    var timestamp: Int64? { record.timestamp }

    /// Whose pusher the message is for.
    var user: [UInt8]? { record.headers.value("user") }

    var pusher: PusherID? { record.withKey { PusherID(text: $0) } ?? nil }

    /// When the pusher was registered, as the encrypt stage read it.
    var registered: Int64? {
        record.headers.withValue("registered") { NotificationRecordReader.moment($0) } ?? nil
    }

    /// The key that the message is for; read from its bytes, which is rarely needed.
    var pushkey: [UInt8]? {
        guard let value = record.value, let format else { return nil }
        return EncodedNotification.pushkey(in: value, format: format)
    }
}
