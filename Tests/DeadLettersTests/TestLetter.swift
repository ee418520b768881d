import Kafka
import Push

/// A notification that is a dead letter, as the dispatch stage would have written it.
struct TestLetter {
    var number: Int
    var origin = "https://gateway.example"
    var reason = "out_of_attempts"
    var app = "com.example.app"
    var channel = "news"
    var month: String? = "2026-11"
    var expires: Int64 = 4_000_000_000_000
    var registered: Int64 = 1_700_000_000_000
    var failedAt = Timestamp(milliseconds: 1_700_100_000_000)
    var attempts = 12
    var replays = 0
    var replay: String?

    init(_ number: Int) {
        self.number = number
    }

    /// Whoever finds one of these in an output that people see has found a leak.
    static let secrets = ["secret-user-", "secret-pushkey-", "secretContent"]

    var user: String { "secret-user-\(number)" }
    var pushkey: String { "secret-pushkey-of-a-device-\(number)" }
    var pusher: PusherID { PusherID(UUIDBytes(high: 1, low: UInt64(number))) }
    var id: String {
        UUIDBytes(high: 0x8000, low: 0x8000_0000_0000_0000 + UInt64(number)).description
    }

    var value: String {
        #"{"id":"\#(id)","notification":{"ciphertext":"\#(ciphertext)","#
            + #""time_message_encrypted":"2026-11","key_identifier":"k","#
            + #""device":{"app_id":"\#(app)","pushkey":"\#(pushkey)","pushkey_ts":1700000000}}}"#
    }

    /// As long as every ciphertext in Base64 is.
    private var ciphertext: String {
        let beginning = "secretContent\(number)"
        return beginning + String(repeating: "A", count: 1404 - beginning.utf8.count)
    }

    /// The headers of the notification itself.
    var original: [Header] {
        var headers = [
            Header("id", text: id), Header("user", text: user),
            Header("gateway", text: "\(origin)/push/v1/notifyEncrypted/batch"),
            Header("format", text: "gematik-1.2-encrypted"), Header("app", text: app),
            Header("channel", text: channel), Header("event", text: "event-\(number)"),
            Header("source", text: "/test"), Header("registered", text: "\(registered)"),
            Header("created", text: "1700000000000"), Header("expires", text: "\(expires)"),
        ]
        if let month { headers.append(Header("month", text: month)) }
        return headers
    }

    var history: FailureHistory {
        var history = FailureHistory()
        history.attempts = attempts
        history.replayCount = replays
        history.replayID = replay
        history.note(
            DeadLetterReason(rawValue: reason),
            detail: "server_error: status 500",
            httpStatus: 500,
            stage: .dispatch,
            at: RecordPlace(
                topic: "push.notifications",
                partition: 3,
                offset: Int64(number),
                timestamp: 1_700_000_000_000,
                consumerGroup: "push.dispatch"
            ),
            now: failedAt
        )
        return history
    }

    var record: RawRecord {
        var record = RawRecord(key: Array(pusher.description.utf8), value: Array(value.utf8))
        record.headers = Headers(original)
        for header in history.headers() { record.headers.append(name: header.name, header.value) }
        return record
    }
}

/// A record to publish as it is, well-formed or not.
struct RawRecord {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers = Headers()
    var timestamp: Int64? = 1_700_000_000_000
    var partition: Int32?
}

/// A trigger event that is a dead letter, as the encrypt stage would have written it.
struct TestEvent {
    var number: Int
    var reason = "unknown_channel"
    var channel = "news"
    var expires = "2096-01-01T00:00:00Z"
    var isStructured = false

    init(_ number: Int) {
        self.number = number
    }

    var record: RawRecord {
        let user = "secret-user-\(number)"
        var record = RawRecord(key: Array(user.utf8), value: Array("secretContent\(number)".utf8))
        if isStructured {
            record.value = Array(
                #"""
                {"specversion":"1.0","id":"event-\#(number)","source":"/test","type":"example.news","subject":"\#(user)",
                "channel":"\#(channel)","expirytime":"\#(expires)","data":"secretContent\#(number)"}
                """#.utf8
            )
            record.headers.append(Header("content-type", text: "application/cloudevents+json"))
        } else {
            for (name, value) in [
                ("ce_specversion", "1.0"), ("ce_id", "event-\(number)"), ("ce_source", "/test"),
                ("ce_type", "example.news"), ("ce_subject", user), ("ce_channel", channel),
                ("ce_expirytime", expires),
            ] { record.headers.append(Header(name, text: value)) }
        }
        var history = FailureHistory()
        history.attempts = 1
        history.note(
            DeadLetterReason(rawValue: reason),
            detail: "channel: does not exist",
            stage: .encrypt,
            at: RecordPlace(
                topic: "push.triggers",
                partition: 0,
                offset: Int64(number),
                timestamp: -1,
                consumerGroup: "push.encrypt"
            ),
            now: Timestamp(milliseconds: 1_700_100_000_000)
        )
        for header in history.headers() { record.headers.append(name: header.name, header.value) }
        return record
    }
}
