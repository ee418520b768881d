import DispatchWorker
import Kafka
import Lanes
import Push
import Simulation
import Support
import Testing

@Suite struct `Dispatch ends` {
    @Test(.needsKafka)
    func `M11 F5: a rejected pusher's registration, exactly that one, and no key that it did not ask about`()
        throws
    {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let drafts = (0..<12).map { Draft($0, at: gateway.origin) }
        for draft in drafts {
            // The sixth has registered anew since its notification was made.
            let registered = draft.registered + (draft.user == "user-6" ? 1 : 0)
            try fixture.register(draft, at: gateway.origin, registered: registered)
        }
        let ids = drafts.map(\.id.description)
        gateway.behave { arrival in
            // The third and the sixth are dead; about the ninth it names somebody else's key, as null and absent it says nothing of the others.
            let results = arrival.ids.map { id -> String in
                switch id {
                case ids[3]: #"{"id":"\#(id)","status":"failed","rejected":["key-3"],"error":null}"#
                case ids[6]: #"{"id":"\#(id)","status":"success","rejected":["key-6"]}"#
                case ids[9]: #"{"id":"\#(id)","status":"success","rejected":["key-1","nobody"]}"#
                default: #"{"id":"\#(id)","status":"success","rejected":null}"#
                }
            }
            let foreign = #"{"id":"somebody","status":"failed","rejected":["key-2"]}"#
            let body = #"{"results":[\#((results.reversed() + [foreign]).joined(separator: ","))]}"#
            return .doing(.respond(status: 200, body: body))
        }
        try fixture.publish(drafts)
        try fixture.drain()
        #expect(try fixture.pushkeys() == drafts.map(\.pushkey).filter { $0 != "key-3" }.sorted())
        #expect(try fixture.reasons() == [])
        #expect(fixture.metric("posthorn_dispatch_pushers_deleted_total") == 1)
        #expect(fixture.metric("posthorn_dispatch_pushers_kept_total") == 1)
        #expect(fixture.metric(#"posthorn_dispatch_anomalies_total{kind="foreign_key"}"#) == 2)
        #expect(fixture.metric(#"posthorn_dispatch_anomalies_total{kind="unknown_id"}"#) == 1)
        #expect(fixture.outcome("rejected") == 2)
        #expect(fixture.outcome("delivered") == 10)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka) func `a rejection only when the pusher is deleted; without the database it waits`()
        throws
    {
        let fixture = try Fixture()
        let gateway = try TestGateway { _ in .rejecting(["key-0"]) }
        try fixture.allow(gateway.origin)
        let draft = Draft(0, at: gateway.origin)
        try fixture.register(draft, at: gateway.origin, registered: draft.registered)
        try fixture.execute("ALTER TABLE pushers RENAME TO pushers_away")
        try fixture.publish([draft, Draft(1, at: gateway.origin)])
        try fixture.running { _ in
            try eventually("the deletion was tried") {
                fixture.metric("posthorn_dispatch_unconfirmed_total") > 0
            }
            #expect(try fixture.committed().isEmpty)
            try fixture.execute("ALTER TABLE pushers_away RENAME TO pushers")
            try fixture.untilDone()
        }
        #expect(try fixture.pushkeys() == [])
        #expect(fixture.metric("posthorn_dispatch_pushers_deleted_total") == 1)
        #expect(gateway.counts.values.allSatisfy { $0 == 1 })
    }

    @Test(.needsKafka) func `K1 K2 K3: every poison record as one dead letter, and the rest goes through`()
        throws
    {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let sound = Draft(1, at: gateway.origin).record
        var many = Draft(2, at: gateway.origin).record
        for index in 0..<10_000 { many.headers.append(Header("x-\(index)", nil)) }
        var odd = Draft(3, at: gateway.origin).record.adding("x-null", nil).adding("x-empty", [])
        odd.headers.append(Header(nameBytes: [0xff, 0xfe], value: [0x80]))
        let unlisted = "https://elsewhere.example/push/v1/notifyEncrypted/batch"
        let poison: [(RawRecord, String)] = [
            (RawRecord(key: sound.key, value: nil, headers: sound.headers), "tombstone"),
            (RawRecord(key: nil, value: nil), "tombstone"),
            (RawRecord(key: nil, value: sound.value, headers: sound.headers), "malformed_notification"),
            (RawRecord(key: [0xff], value: sound.value, headers: sound.headers), "malformed_notification"),
            (RawRecord(key: sound.key, value: [], headers: sound.headers), "malformed_notification"),
            (
                RawRecord(key: sound.key, value: Array("text".utf8), headers: sound.headers),
                "malformed_notification"
            ),
            (RawRecord(key: sound.key, value: sound.value), "malformed_notification"),
            (sound.adding("user", Array("other".utf8)), "malformed_notification"),
            (sound.replacing("id", "no-uuid"), "malformed_notification"),
            (sound.replacing("id", nil).adding("id", nil), "malformed_notification"),
            (sound.replacing("expires", "tomorrow"), "malformed_notification"),
            (sound.replacing("expires", "99999999999999999999"), "malformed_notification"),
            (sound.replacing("registered", "-1"), "malformed_notification"),
            (sound.replacing("format", "matrix"), "malformed_notification"),
            (sound.replacing("user", "a\u{0}b"), "malformed_notification"),
            (sound.replacing("gateway", "nowhere"), "malformed_notification"),
            (
                sound.replacing("gateway", "https://user@gateway.example/push/v1/notify"),
                "malformed_notification"
            ),
            (sound.replacing("app", nil), "malformed_notification"),
            (sound.replacing("gateway", unlisted), "unknown_gateway"),
            (sound.replacing("expires", "1600000000000"), "expired"),
            (
                RawRecord(
                    key: sound.key,
                    value: Array("{\"x\":\"\(String(repeating: "x", count: 256_000))\"}".utf8),
                    headers: sound.headers
                ), "notification_too_large"
            ),
        ]
        try fixture.publish([sound, many] + poison.map(\.0) + [odd])
        try fixture.drain()

        let letters = try fixture.deadLetters()
        #expect(letters.compactMap { $0.headers.text("x-dlq-reason") }.sorted() == poison.map(\.1).sorted())
        let origins = letters.compactMap { $0.headers.text("x-original-offset") }.compactMap { Int($0) }
            .sorted()
        #expect(origins == Array(2..<(2 + poison.count)))
        #expect(letters.filter(\.isTombstone).count == 2)
        #expect(gateway.pushkeyCounts == ["key-1": 1, "key-2": 1, "key-3": 1])
        #expect(fixture.outcome("expired") == 1)
        #expect(fixture.outcome("dead_lettered") == poison.count - 1)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `D1: a record at the topic's limit as a dead letter all the same, with less of its story`() throws {
        let fixture = try Fixture(deadLetters: false)
        let letters = fixture.topics.notificationDeadLetters
        let admin = try Admin(fixture.kafka)
        let limit = 20_000
        let topic = TopicSpecification(
            letters,
            partitions: 1,
            configuration: ["max.message.bytes": "\(limit)"]
        )
        #expect(try admin.createTopics([topic], timeout: .seconds(60)).allSatisfy { $0.error == nil })
        var record = Draft(0, at: "https://gateway.example").record.replacing("app", nil)
        // Key, batch and record framing, its own headers with their lengths: 300 bytes are left for the story, which would take 400.
        let overhead =
            36 + 61 + 12 + record.headers.reduce(0) { $0 + $1.nameBytes.count + ($1.value?.count ?? 0) + 3 }
        record.value = Array("{\"\(String(repeating: "x", count: limit - overhead - 304))\"}".utf8)
        try fixture.publish([record])
        var settings = try fixture.settings()
        settings.kafka.set("compression.type", "none")
        try fixture.drain(settings)
        let letter = try #require(try fixture.deadLetters().first)
        #expect(letter.value == record.value)
        #expect(letter.headers.text("x-dlq-reason") == "malformed_notification")
        #expect(letter.headers.text("x-original-consumer-group") == nil)
    }
}
