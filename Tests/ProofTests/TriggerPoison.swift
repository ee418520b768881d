import Kafka

/// What can be wrong with a trigger event.
enum TriggerPoison {
    private static let json = "application/cloudevents+json"

    /// Each is an event for `user` but for one thing.
    static func all(for user: String) -> [Poison] {
        func event(_ name: String) -> RawRecord { RawRecord(TestEvent(id: "poison-\(name)", user: user)) }
        func poison(_ name: String, _ reason: String, _ change: (RawRecord) -> RawRecord) -> Poison {
            Poison(name, reason, change(event(name)))
        }
        return [
            Poison.nothing,
            poison("a tombstone", "tombstone") { RawRecord(key: $0.key, value: nil) },
            poison("a tombstone with an event's headers", "tombstone") { $0.with(value: nil) },
            poison("text without headers", "malformed") {
                RawRecord(key: $0.key, value: Array("hello".utf8))
            },
            poison("ten thousand headers and no event", "malformed") {
                RawRecord(key: $0.key, value: $0.value, Poison.crowd)
            },
            poison("a batch of events", "malformed") { $0.with("content-type", "\(json)-batch") },
            poison("an event in Avro", "malformed") {
                $0.with("content-type", "application/cloudevents+avro")
            },
        ] + attributes(poison) + structured(poison) + contents(poison)
    }

    private typealias Make = (_ name: String, _ reason: String, _ change: (RawRecord) -> RawRecord) -> Poison

    private static func attributes(_ poison: Make) -> [Poison] {
        [
            poison("no type", "missing_attribute") { $0.without("ce_type") },
            poison("a null id", "missing_attribute") { $0.with("ce_id", nil) },
            poison("an empty user", "missing_attribute") { $0.with("ce_subject", []) },
            poison("no source, and ten thousand headers", "missing_attribute") {
                var record = $0.without("ce_source")
                record.headers += Poison.crowd
                return record
            },
            poison("another version", "invalid_attribute") { $0.with("ce_specversion", "0.3") },
            poison("two ids", "invalid_attribute") { $0.adding("ce_id", Array("again".utf8)) },
            poison("a user that is no UTF-8", "invalid_attribute") { $0.with("ce_subject", Poison.noUTF8) },
            poison("a user of 129 bytes", "invalid_attribute") {
                $0.with("ce_subject", [UInt8](repeating: 0x61, count: 129))
            },
            poison("an id of 100 kB", "invalid_attribute") {
                $0.with("ce_id", [UInt8](repeating: 0x61, count: 100_000))
            },
            poison("a time that is none", "invalid_attribute") { $0.with("ce_time", "yesterday") },
            poison("an expiry that is none", "invalid_attribute") { $0.with("ce_expirytime", "2026-13-01") },
            poison("an unknown priority", "invalid_attribute") { $0.with("ce_priority", "urgent") },
            poison("a channel with a line break", "invalid_attribute") { $0.with("ce_channel", "a\nb") },
            poison("an unknown channel", "unknown_channel") { $0.with("ce_channel", "weather") },
            poison("an unknown type", "unknown_type") { $0.with("ce_type", "example.weather") },
        ]
    }

    private static func structured(_ poison: Make) -> [Poison] {
        let documents = [
            "cut JSON": #"{"specversion":"1.0","id":"1""#, "a JSON array": "[1,2,3]", "no JSON": "oops",
            "JSON and more": #"{"specversion":"1.0"}{}"#,
            "a JSON name twice": #"{"specversion":"1.0","id":"1","id":"2"}"#,
            "JSON of a thousand levels": String(repeating: #"{"a":"#, count: 1000), "no bytes": "",
        ]
        return documents.sorted { $0.key < $1.key }.map { name, text in
            poison(name, "malformed") {
                RawRecord(key: $0.key, value: Array(text.utf8)).with("content-type", json)
            }
        } + [
            poison("JSON that is no UTF-8", "malformed") {
                RawRecord(key: $0.key, value: Array("{\"id\":\"".utf8) + Poison.noUTF8).with(
                    "content-type",
                    json
                )
            }
        ]
    }

    private static func contents(_ poison: Make) -> [Poison] {
        [1019, 1_000_000].map { count in
            poison("a content of \(count) bytes", "content_too_large") {
                $0.with(value: [UInt8](repeating: 0x61, count: count))
            }
        }
    }

    /// Odd, but in order: each of them is sealed.
    static func harmless(for user: String) -> [(event: TestEvent, record: RawRecord)] {
        func odd(_ name: String, _ change: (RawRecord) -> RawRecord) -> (TestEvent, RawRecord) {
            let event = TestEvent(id: "odd-\(name)", user: user)
            return (event, change(RawRecord(event)))
        }
        return [
            odd("headers without value") { $0.adding("x-null", nil).adding("x-empty", []) },
            odd("headers that are no UTF-8") { record in
                var record = record.adding("x-binary", Poison.noUTF8)
                record.headers.append(Header(nameBytes: [0xff, 0xfe], value: Poison.noUTF8))
                return record
            },
            odd("repeated headers") { $0.adding("x-twice", [1]).adding("x-twice", [2]) },
            odd("ten thousand headers") { record in
                var record = record
                record.headers += Poison.crowd
                return record
            },
            odd("no key") { $0.with(key: nil) },
            odd("a key that is another user's") { $0.with(key: Array("user-9".utf8)) },
            odd("a broken trace") { $0.with("traceparent", "00-zero") },
            odd("failure headers of nobody") {
                $0.with("x-dlq-attempts", "many").with("x-dlq-reason", "moon")
            },
        ]
    }
}
