import EncryptWorker
import Kafka
import Push
import Support
import Testing

private let secret = [UInt8](repeating: 7, count: 32)

@Suite struct `The encrypt lane` {
    @Test(.needsKafka) func `gives every subscribed device one message that only it can open`() throws {
        let fixture = try Fixture()
        let other = [UInt8](repeating: 8, count: 32)
        try fixture.setMonth(Month("2026-11")!)
        let phone = try fixture.register(user: "A1", pushkey: "phone", iss: secret)
        try fixture.register(user: "A1", pushkey: "tablet", iss: other)
        try fixture.register(user: "A1", pushkey: "silent", iss: secret, enabled: [])
        try fixture.register(user: "B2", pushkey: "stranger", iss: secret)
        try fixture.publish([.event("e1", user: "A1", content: #"{"n":1}"#).with("ce_identifier", "task-7")])
        try fixture.drain()

        let notifications = try fixture.records(on: fixture.topics.notifications).map { try Notification($0) }
        #expect(notifications.map(\.pushkey).sorted() == ["phone", "tablet"])
        let first = try #require(notifications.first { $0.pushkey == "phone" })
        #expect(first.key == phone.description)
        #expect(first.month == "2026-11")
        #expect(first.ciphertext.count == 1404)
        #expect(try first.open(secret) == #"{"n":1}"#)
        #expect(throws: (any Error).self) { try first.open(other) }
        #expect(first.members.isSuperset(of: ["id", "key_identifier", "identifier", "app_id", "pushkey_ts"]))
        #expect(first.headers["gateway"] == "https://gateway.example/push/v1/notifyEncrypted/batch")
        #expect(first.headers["format"] == "gematik-1.2-encrypted")
        #expect(first.headers["user"] == "A1")
        #expect(first.headers["channel"] == "news")
        #expect(first.headers["event"] == "e1")
        #expect(first.headers["month"] == "2026-11")
        #expect(Set(notifications.map(\.id)).count == 2)
    }

    @Test(.needsKafka) func `seals for the concept of 2024 without frame, id and key identifier`() throws {
        let fixture = try Fixture()
        try fixture.setMonth(Month("2026-10")!)
        try fixture.register(
            user: "A1",
            pushkey: "old",
            iss: secret,
            gateway: "https://old.example",
            path: "/_matrix/push/v1/notify"
        )
        try fixture.publish([.event("e1", user: "A1", content: "hello").with("ce_priority", "low")])
        try fixture.drain()
        let notification = try #require(
            try fixture.records(on: fixture.topics.notifications).map { try Notification($0) }.first
        )
        #expect(
            notification.members == [
                "month", "ciphertext", "prio", "devices", "app_id", "pushkey", "pushkey_ts",
            ]
        )
        #expect(notification.headers["gateway"] == "https://old.example/_matrix/push/v1/notify")
        #expect(try notification.open(secret) == "hello")
    }

    @Test(.needsKafka) func `sends in plain only where the channel allows it`() throws {
        let fixture = try Fixture()
        try fixture.register(user: "A1", pushkey: "keyless", iss: nil)
        try fixture.publish([
            .event("sealed-only", user: "A1"),
            .event("allowed", user: "A1", content: #"{"hint":true}"#).with("ce_channel", "open"),
            .event("not-json", user: "A1", content: "text").with("ce_channel", "open"),
        ])
        try fixture.drain()
        let notifications = try fixture.records(on: fixture.topics.notifications).map { try Notification($0) }
        #expect(notifications.map { $0.headers["event"] } == ["allowed"])
        #expect(notifications.first?.headers["format"] == "gematik-1.2-plain")
        #expect(notifications.first?.headers["month"] == nil)
        #expect(fixture.counter("posthorn_encrypt_pushers_without_keys_total") == 1)
        let reasons = try fixture.records(on: fixture.topics.triggerDeadLetters).map {
            $0.headers.text("x-dlq-reason")
        }
        #expect(reasons == ["invalid_attribute"])
    }

    @Test(.needsKafka)
    func `K1 K2 K3: every poison record is one dead letter with its reason, and the rest goes through`()
        throws
    {
        let fixture = try Fixture()
        try fixture.register(user: "A1", pushkey: "phone", iss: secret)
        let long = String(repeating: "x", count: 1019)
        var many = RawRecord.event("many-headers", user: "A1")
        for index in 0..<10_000 { many.headers.append(Header("x-\(index)", nil)) }
        var binary = RawRecord.event("odd-headers", user: "A1").with("x-null", nil).with("x-empty", "").with(
            "x-twice",
            "1"
        )
        binary.headers.append(Header(nameBytes: [0xff, 0xfe], value: [0x80]))
        binary.headers.append(Header("x-twice", text: "2"))
        let sound = [RawRecord.event("first", user: "A1"), many, binary, .event("last", user: "A1")]
        let poison: [(RawRecord, String)] = [
            (RawRecord(key: Array("A1".utf8), value: nil), "tombstone"),
            (RawRecord(key: nil, value: nil), "tombstone"),
            (RawRecord(key: nil, value: []), "malformed"),
            (
                RawRecord(key: nil, value: [0xff]).with("content-type", "application/cloudevents+json"),
                "malformed"
            ),
            (
                RawRecord(key: nil, value: Array("{".utf8)).with(
                    "content-type",
                    "application/cloudevents+json"
                ), "malformed"
            ),
            (RawRecord(key: nil, value: Array("{}".utf8)).with("ce_id", "x"), "missing_attribute"),
            (RawRecord.event("no-user", user: ""), "missing_attribute"),
            (RawRecord.event("null-id", user: "A1").with("ce_id", nil), "invalid_attribute"),
            (RawRecord.event("twice", user: "A1").with("ce_subject", "B2"), "invalid_attribute"),
            (RawRecord.event("bad-time", user: "A1").with("ce_time", "yesterday"), "invalid_attribute"),
            (RawRecord.event("too-long", user: "A1", content: long), "content_too_large"),
            (RawRecord.event("no-channel", user: "A1").with("ce_channel", "nowhere"), "unknown_channel"),
            (RawRecord.event("no-type", user: "A1", type: "example.unheard"), "unknown_type"),
        ]
        try fixture.publish(Array(sound[..<3]) + poison.map(\.0) + [sound[3]])
        try fixture.drain(lanes: 2)

        let letters = try fixture.records(on: fixture.topics.triggerDeadLetters)
        #expect(letters.compactMap { $0.headers.text("x-dlq-reason") }.sorted() == poison.map(\.1).sorted())
        #expect(letters.allSatisfy { $0.headers.text("x-original-topic") == fixture.topics.triggers })
        #expect(letters.filter(\.isTombstone).count == 2)
        let events = try fixture.records(on: fixture.topics.notifications).compactMap {
            $0.headers.text("event")
        }
        #expect(events.sorted() == ["first", "last", "many-headers", "odd-headers"])
    }

    @Test(.needsKafka)
    func `tells of dead letters in Spring's names too where that is set, each once`() throws {
        let fixture = try Fixture()
        let stale = RawRecord(key: nil, value: nil).with("kafka_dlt-original-topic", "elsewhere")
        try fixture.publish([stale])
        var settings = try fixture.settings()
        settings.deadLetterNaming = .spring
        try fixture.drain(settings: settings)
        let letter = try #require(try fixture.records(on: fixture.topics.triggerDeadLetters).first)
        #expect(letter.headers.text("kafka_dlt-original-topic") == fixture.topics.triggers)
        #expect(letter.headers.text("kafka_dlt-exception-fqcn") == "posthorn.tombstone")
        #expect(letter.headers.value("kafka_dlt-original-offset") == [0, 0, 0, 0, 0, 0, 0, 0])
        let names = letter.headers.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test(.needsKafka)
    func `drops and counts what nobody needs any more, and goes through records that are for nobody`() throws
    {
        let fixture = try Fixture()
        try fixture.register(user: "A1", pushkey: "phone", iss: secret)
        try fixture.publish([
            .event("expired", user: "A1").with("ce_expirytime", "2020-01-01T00:00:00Z"),
            .event("ancient", user: "A1").with("ce_time", "2020-01-01T00:00:00Z"),
            .event("nobody", user: "C3"),
            .event("fresh", user: "A1").with("ce_expirytime", "2099-01-01T00:00:00Z"),
        ])
        try fixture.drain()
        let events = try fixture.records(on: fixture.topics.notifications).compactMap {
            $0.headers.text("event")
        }
        #expect(events == ["fresh"])
        #expect(try fixture.records(on: fixture.topics.triggerDeadLetters).isEmpty)
        #expect(fixture.counter(#"posthorn_encrypt_events_total{outcome="expired"}"#) == 2)
        #expect(fixture.counter(#"posthorn_encrypt_events_total{outcome="no_subscriber"}"#) == 1)
        #expect(fixture.counter(#"posthorn_encrypt_events_total{outcome="sealed"}"#) == 1)
    }

    @Test(.needsKafka) func `a repeated event has the same ids, another event or pusher others`() throws {
        let fixture = try Fixture()
        try fixture.register(user: "A1", pushkey: "phone", iss: secret)
        try fixture.register(user: "A1", pushkey: "tablet", iss: secret)
        try fixture.publish([.event("e1", user: "A1"), .event("e1", user: "A1"), .event("e2", user: "A1")])
        try fixture.drain()
        let records = try fixture.records(on: fixture.topics.notifications)
        let ids = Dictionary(grouping: records) { $0.headers.text("id") ?? "" }.mapValues(\.count)
        #expect(ids.values.sorted() == [1, 1, 2, 2])
    }

    @Test(.needsKafka) func `a lane whose id another process takes over ends and says why`() throws {
        let fixture = try Fixture()
        try fixture.register(user: "A1", pushkey: "phone", iss: secret)
        let first = try RunningLanes(fixture.settings(instance: "same"), lanes: 1, registry: fixture.registry)
        try fixture.publish([.event("e1", user: "A1")])
        try eventually("the first lane works") { try fixture.lag() == 0 }
        let second = try RunningLanes(
            fixture.settings(instance: "same"),
            lanes: 1,
            registry: fixture.registry
        )
        try eventually("the first lane is fenced") {
            try fixture.publish([.event(uniqueName("e"), user: "A1")])
            return fixture.counter("posthorn_encrypt_turns_total") > 1
        }
        try fixture.publish((0..<50).map { .event("later-\($0)", user: "A1") })
        try eventually("the second lane does the rest") { try fixture.lag() == 0 }
        let failures = first.failures()
        #expect(failures.count == 1)
        #expect(failures.first?.description.contains("instance 'same'") == true)
        try second.stop()
        let events = try fixture.records(on: fixture.topics.notifications).compactMap {
            $0.headers.text("event")
        }
        #expect(Set(events).count == events.count)
        #expect(events.filter { $0.hasPrefix("later-") }.count == 50)
    }
}
