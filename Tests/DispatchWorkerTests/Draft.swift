import Kafka
import Push

/// A notification to be put on the topic as the encrypt stage would.
struct Draft {
    let number: Int
    var id: NotificationID
    var pusher: PusherID
    var user: String
    var pushkey: String
    var origin: String
    var format = NotificationFormat.gematik12Encrypted
    var expires: Int64 = 4_000_000_000_000
    var registered: Int64 = 1_700_000_000_000

    /// The `number`th notification, for a pusher of its own at `origin`.
    init(_ number: Int, at origin: String, format: NotificationFormat = .gematik12Encrypted) {
        self.number = number
        id = NotificationID(
            UUIDBytes(high: 0x0000_0000_0000_8000, low: 0x8000_0000_0000_0000 + UInt64(number))
        )
        pusher = PusherID(UUIDBytes(high: 1, low: UInt64(number)))
        user = "user-\(number)"
        pushkey = "key-\(number)"
        self.origin = origin
        self.format = format
    }

    var record: RawRecord {
        let path = format.isBatched ? "/push/v1/" : "/push/v1/notify"
        let endpoint = GatewayEndpoint.text("\(origin)\(path)", format)
        var record = RawRecord(key: Array(pusher.description.utf8), value: Array(body.utf8))
        for (name, value) in [
            ("id", id.description), ("user", user), ("gateway", endpoint), ("format", format.rawValue),
            ("app", "com.example.app"), ("channel", "news"), ("event", "event-\(user)"), ("source", "/test"),
            ("registered", "\(registered)"), ("created", "1700000000000"), ("expires", "\(expires)"),
        ] { record.headers.append(Header(name, text: value)) }
        return record
    }

    private var body: String {
        let device = #"{"app_id":"com.example.app","pushkey":"\#(pushkey)","pushkey_ts":1700000000}"#
        switch format {
        case .gematik12Encrypted:
            return #"{"id":"\#(id)","notification":{"ciphertext":"\#(Self.ciphertext)","#
                + #""time_message_encrypted":"2026-11","key_identifier":"k","device":\#(device)}}"#
        case .gematik12Plain:
            return #"{"id":"\#(id)","notification":{"prio":"high","devices":[\#(device)]}}"#
        case .concept2024:
            return #"{"month":"2026-11","ciphertext":"\#(Self.ciphertext)","devices":[\#(device)]}"#
        }
    }

    private static let ciphertext = String(repeating: "Abc+", count: 351)
}

enum GatewayEndpoint {
    static func text(_ url: String, _ format: NotificationFormat) -> String {
        var bytes: [UInt8] = []
        format.appendEndpoint(url: url.utf8.span, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A record to publish as it is, well-formed or not.
struct RawRecord {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers = Headers()

    /// With another value in the place of the header's, or without the header.
    func replacing(_ name: String, _ value: String?) -> RawRecord {
        var record = self
        record.headers.remove(name)
        if let value { record.headers.append(Header(name, text: value)) }
        return record
    }

    func adding(_ name: String, _ value: [UInt8]?) -> RawRecord {
        var record = self
        record.headers.append(Header(name, value))
        return record
    }
}
