import Kafka

/// What can be wrong with a notification.
enum NotificationPoison {
    /// Each is `template` under an id of its own but for one thing.
    static func all(like template: Record) -> [Poison] {
        var number = 0
        func poison(
            _ name: String,
            _ reason: String = "malformed_notification",
            _ change: (RawRecord) -> RawRecord
        ) -> Poison {
            number += 1
            return Poison(name, reason, change(copy(of: template, number)))
        }
        var poisons = [
            Poison.nothing,
            poison("a tombstone", "tombstone") { $0.with(value: nil) },
            poison("no headers at all") { RawRecord(key: $0.key, value: $0.value) },
            poison("no key") { $0.with(key: nil) },
            poison("a key that is no id") { $0.with(key: Array("device".utf8)) },
            poison("no bytes") { $0.with(value: []) },
            poison("no JSON object") { $0.with(value: Array("oops".utf8)) },
            poison("an unknown format") { $0.with("format", "pigeon") },
            poison("an address that is none") { $0.with("gateway", "somewhere") },
            poison("a moment after all years") { $0.with("expires", "999999999999999") },
            poison("ten thousand headers and no id") { record in
                var record = record.without("id")
                record.headers += Poison.crowd
                return record
            },
            poison("a gateway that nobody knows", "unknown_gateway") {
                $0.with("gateway", "https://elsewhere.example/push/v1/notifyEncrypted/batch")
            },
            poison("an hour that is over", "expired") { $0.with("expires", "1700000000000") },
            poison("300 kB", "notification_too_large") {
                $0.with(value: Array("{".utf8) + [UInt8](repeating: 0x20, count: 300_000) + Array("}".utf8))
            },
            poison("JSON that is broken inside", "message_refused") {
                $0.with(value: Array(#"{"id":"x","notification":{oops}}"#.utf8))
            },
        ]
        for header in ["id", "user", "gateway", "format", "app", "registered", "expires"] {
            let value = template.headers.value(header) ?? []
            poisons += [
                poison("no \(header)") { $0.without(header) },
                poison("a null \(header)") { $0.with(header, nil) },
                poison("an empty \(header)") { $0.with(header, []) },
                poison("two \(header)") { $0.adding(header, value) },
            ]
            if header != "app" {
                poisons.append(poison("no UTF-8 as \(header)") { $0.with(header, Poison.noUTF8) })
            }
        }
        return poisons
    }

    /// Odd, but in order: each of them is sent, under the id given.
    static func harmless(like template: Record) -> [(id: String, record: RawRecord)] {
        let changes: [(RawRecord) -> RawRecord] = [
            { $0.adding("x-null", nil).adding("x-empty", []).adding("x-twice", [1]).adding("x-twice", [2]) },
            { $0.adding("x-binary", Poison.noUTF8) },
            { record in
                var record = record
                record.headers += Poison.crowd
                return record
            },
            { $0.with("x-dlq-attempts", "many").with("x-retry-count", "-1").with("channel", nil) },
        ]
        return changes.enumerated().map { index, change in
            (id(1000 + index), change(copy(of: template, 1000 + index)))
        }
    }

    private static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-8000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// The same message under another id, in the header and in the value.
    private static func copy(of template: Record, _ number: Int) -> RawRecord {
        let old = template.headers.text("id") ?? ""
        let value = String(decoding: template.value ?? [], as: UTF8.self).replacing(old, with: id(number))
        return RawRecord(template).with(value: Array(value.utf8)).with("id", id(number))
    }
}
