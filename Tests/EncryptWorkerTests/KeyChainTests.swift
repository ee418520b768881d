import EncryptWorker
import Kafka
import LocalServices
import Push
import Sealing
import Support
import Testing

private let secret = [UInt8](repeating: 9, count: 32)

@Suite struct `Key chains in the encrypt lane` {
    @Test(.needsKafka)
    func `R4 R7: sixteen lanes move the same chains over fourteen months, and there is one chain`() throws {
        let fixture = try Fixture(partitions: 16)
        for index in 0..<50 { try fixture.register(user: "U\(index)", pushkey: "p\(index)", iss: secret) }
        try fixture.setMonth(Month("2026-10")!)
        try fixture.publish((0..<50).map { .event("before", user: "U\($0)") })
        try fixture.drain(lanes: 2)
        try fixture.setMonth(Month("2027-12")!)
        // The same users from every partition at once: the key decides the partition, the subject the user.
        let after = (0..<16).flatMap { round in
            (0..<50).map { user in
                var record = RawRecord.event("after-\(round)", user: "U\(user)")
                record.key = Array("spread-\(round)-\(user)".utf8)
                return record
            }
        }
        try fixture.publish(after)
        let running = try RunningLanes(fixture.settings(), lanes: 16, registry: fixture.registry)
        try eventually("all is committed") {
            fixture.counter("posthorn_encrypt_received_total") == 50 + 16 * 50
        }
        try running.stop()

        let records = try fixture.records(on: fixture.topics.notifications)
        let notifications = try records.map { try Notification($0) }
        #expect(notifications.filter { $0.month == "2026-10" }.count == 50)
        #expect(notifications.filter { $0.month == "2027-12" }.count == 16 * 50)
        for notification in notifications { #expect(try notification.open(secret) == "{}") }
        let months = "SELECT count(*) FROM pushers WHERE chain_month = \(Month("2027-12")!.ordinal)"
        #expect(try fixture.integer(months) == 50)
    }

    @Test(.needsKafka)
    func
        `R8: a chain that is ahead keeps its month, and an absurd clock stops the lane without a dead letter`()
        throws
    {
        let fixture = try Fixture()
        try fixture.register(user: "A1", pushkey: "ahead", iss: secret, month: Month("2026-12")!)
        try fixture.setMonth(Month("2026-11")!)
        try fixture.publish([.event("e1", user: "A1")])
        try fixture.drain()
        let first = try #require(
            try fixture.records(on: fixture.topics.notifications).map { try Notification($0) }.first
        )
        #expect(first.month == "2026-12")
        #expect(try first.open(secret, from: Month("2026-12")!) == "{}")

        try fixture.execute(
            "CREATE OR REPLACE FUNCTION current_month(zone text) RETURNS integer LANGUAGE sql STABLE RETURN 40000"
        )
        try fixture.publish([.event("e2", user: "A1")])
        let running = try RunningLanes(fixture.settings(), lanes: 1, registry: fixture.registry)
        try eventually("the lane has met the clock") { fixture.counter("posthorn_encrypt_aborted_total") > 0 }
        #expect(try fixture.lag() == 1)
        try fixture.setMonth(Month("2027-01")!)
        try eventually("the lane goes on by itself") { try fixture.lag() == 0 }
        try running.stop()
        #expect(try fixture.records(on: fixture.topics.triggerDeadLetters).isEmpty)
        let months = try fixture.records(on: fixture.topics.notifications).map { try Notification($0).month }
        #expect(months.sorted() == ["2026-12", "2027-01"])
    }

    @Test(.needsKafka)
    func `a worker with an old key file waits at chains under the new key, without a dead letter`() throws {
        let fixture = try Fixture()
        var old = try fixture.settings()
        old.keyFile = "\(fixture.keyFile)-old"
        try Files.write(String(decoding: Files.read(fixture.keyFile) ?? [], as: UTF8.self), to: old.keyFile)
        _ = try KeyFile.generate(fixture.keyFile)
        try fixture.register(user: "A1", pushkey: "phone", iss: secret)
        try fixture.publish([.event("e1", user: "A1")])

        let running = try RunningLanes(old, lanes: 1, registry: fixture.registry)
        try eventually("the lane has met the chain") {
            fixture.counter("posthorn_encrypt_aborted_total") > 1
        }
        try running.stop()
        #expect(try fixture.lag() == 1)
        #expect(try fixture.records(on: fixture.topics.triggerDeadLetters).isEmpty)
        try fixture.drain()
        let records = try fixture.records(on: fixture.topics.notifications)
        #expect(try records.map { try Notification($0).open(secret) } == ["{}"])
    }

    @Test(.needsKafka)
    func `a chain that does not open costs its own pusher one dead letter and no other anything`() throws {
        let fixture = try Fixture()
        let broken = try fixture.register(user: "A1", pushkey: "broken", iss: secret)
        try fixture.register(user: "A1", pushkey: "sound", iss: secret)
        try fixture.execute(
            "UPDATE pushers SET chain_sealed = set_byte(chain_sealed, 20, 255 - get_byte(chain_sealed, 20)) WHERE pushkey = 'broken'"
        )
        try fixture.publish([.event("e1", user: "A1")])
        try fixture.drain()
        #expect(
            try fixture.records(on: fixture.topics.notifications).map { try Notification($0).pushkey } == [
                "sound"
            ]
        )
        let letter = try #require(try fixture.records(on: fixture.topics.triggerDeadLetters).first)
        #expect(letter.headers.text("x-dlq-reason") == "key_chain_unusable")
        #expect(letter.headers.text("x-dlq-detail")?.contains(broken.description) == true)
    }

    @Test(.needsKafka) func `several events of a batch move a chain once`() throws {
        let fixture = try Fixture()
        try fixture.setMonth(Month("2026-11")!)
        try fixture.register(user: "A1", pushkey: "phone", iss: secret)
        try fixture.publish((0..<20).map { .event("e\($0)", user: "A1") })
        try fixture.drain()
        #expect(fixture.counter("posthorn_encrypt_chains_moved_total") == 1)
        #expect(try fixture.records(on: fixture.topics.notifications).count == 20)
    }
}
