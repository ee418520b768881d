import Postgres
import Push
import Registrar
import Support
import Testing

/// Rejections judged in a real database, without Kafka.
@Suite struct `The ledger of rejections` {
    @Test func `a single dead key: deleted, with a record that does not hold it`() throws {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(10)
        let dead = try fixture.stored("user-3")
        let outcome = try fixture.settle(fixture.answer(rejecting: ["user-3"], others: 9))
        #expect(outcome.endings == [.removed])
        #expect(outcome.removed == 1)
        #expect(try fixture.integer("SELECT count(*) FROM pushers") == 9)
        let removals = try RemovalHistory.removals(
            RejectionFilter(),
            user: "user-3",
            limit: 10,
            in: &fixture.connection
        )
        let removal = try #require(removals.first)
        #expect(removal.pusher == dead.pusher)
        #expect(removal.reason == "rejected")
        #expect(removal.removedBy == "dispatch/test")
        #expect(removal.gateway == "https://gateway.example")
        #expect(removal.notification == "00000000-0000-0001-0000-000000000000")
        #expect(removal.user.utf8.count == 16 && removal.user != "user-3")
        let record = try fixture.connection.query("SELECT r::text FROM pusher_removals r").text(0, 0)
        #expect(!record.contains(RegistrarFixture.pushkey))
        // The same flush again, as after a commit of which nobody heard.
        let again = try fixture.settle(
            fixture.answer(rejecting: [], others: 1)
        )
        #expect(again.removed == 0)
    }

    @Test func `A18: a thousand dead keys at a cold start: not one deleted, all held`() throws {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(1000)
        var changes: [StormGuard.Change] = []
        for batch in 0..<10 {
            let users = (0..<100).map { "user-\(batch * 100 + $0)" }
            let outcome = try fixture.settle(fixture.answer(rejecting: users))
            #expect(outcome.endings.allSatisfy { $0 == .held })
            changes += outcome.changes.map(\.change)
        }
        #expect(changes == [.began])
        #expect(try fixture.integer("SELECT count(*) FROM pushers") == 1000)
        let counts = try RejectionLedger.heldCounts(from: &fixture.connection)
        #expect(counts == ["https://gateway.example": [.storm: 1000]])
    }

    @Test func `A18: a trickle of dead keys: the first ones wait, and are held with the others`() throws {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(8)
        for user in 0..<4 {
            #expect(try fixture.settle(fixture.answer(rejecting: ["user-\(user)"])).endings == [.waiting])
        }
        let outcome = try fixture.settle(fixture.answer(rejecting: ["user-4"]))
        #expect(outcome.endings == [.held])
        #expect(outcome.held == 5)
        #expect(try fixture.open() == (0..<5).map { "user-\($0) held storm" })
        #expect(try fixture.integer("SELECT count(*) FROM pushers") == 8)
    }

    @Test func `one that waits goes when others are taken that were sent after it, not before`() throws {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(2)
        #expect(try fixture.settle(fixture.answer(rejecting: ["user-0"])).endings == [.waiting])
        // Sent before the rejection was heard of: it says nothing about the gateway since.
        let before = try fixture.settle(fixture.answer(rejecting: [], others: 5, sentAge: 60_000))
        #expect(before.removed == 0)
        try eventually("a message of later is taken") {
            try fixture.settle(fixture.answer(rejecting: [], others: 1)).removed == 1
        }
        #expect(try fixture.pushers().count == 1)
        #expect(try fixture.open().isEmpty)
    }

    @Test
    func `one that nothing bears out is held, and goes when it is rejected again after others were taken`()
        throws
    {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(2)
        try fixture.settle(fixture.answer(rejecting: ["user-0"]), patience: .zero)
        #expect(try fixture.open() == ["user-0 held unproven"])
        #expect(
            try fixture.settle(fixture.answer(rejecting: ["user-0"]), patience: .zero).endings == [.held]
        )
        #expect(try fixture.pushers().count == 2)
        try fixture.settle(fixture.answer(rejecting: [], others: 1))
        try eventually("rejected again") {
            try fixture.settle(fixture.answer(rejecting: ["user-0"]), patience: .zero).endings == [.removed]
        }
        #expect(try fixture.open().isEmpty)
    }

    @Test func `a message that is taken for a held pusher speaks for it: the rejection is forgotten`() throws
    {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(10)
        try fixture.settle(fixture.answer(rejecting: (0..<10).map { "user-\($0)" }))
        let outcome = try fixture.settle(fixture.answer(rejecting: [], accepted: ["user-0", "user-1"]))
        #expect(outcome.lapsed == 2)
        #expect(try fixture.open().count == 8)
    }

    @Test func `a registration newer than the answer's evidence survives, also when its rejection waited`()
        throws
    {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(3)
        let old = try fixture.answer(rejecting: ["user-0", "user-1"])
        try fixture.settle(old)
        #expect(try fixture.open() == ["user-0 waiting", "user-1 waiting"])
        try fixture.register(Line(user: "user-0", pushkey: "\(RegistrarFixture.pushkey)-0"))
        #expect(try fixture.open() == ["user-1 waiting"])
        try eventually("borne out") {
            try fixture.settle(fixture.answer(rejecting: [], others: 9)).removed == 1
        }
        #expect(try fixture.pushers().map { $0.prefix(6) } == ["user-0", "user-2"])
        #expect(try fixture.open().isEmpty)
        // And one that says so about a registration that is gone.
        #expect(
            try fixture.settle(fixture.answer(rejecting: ["user-2"], others: 9, registered: 1)).endings == [
                .moot
            ]
        )
    }

    @Test
    func `G3: with two confirmations: tried again first, deleted when rejected again after one success`()
        throws
    {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(3)
        try fixture.confirm(2)
        let first = try fixture.settle(fixture.answer(rejecting: ["user-0"], others: 2))
        #expect(first.endings == [.again])
        #expect(first.open == [RegistrarFixture.gate])
        // Another message of the pusher, sent before: the same piece of news.
        #expect(
            try fixture.settle(fixture.answer(rejecting: ["user-0"], others: 2, sentAge: 60_000)).endings
                == [.again]
        )
        try fixture.settle(fixture.answer(rejecting: [], accepted: ["user-0"]))
        #expect(try fixture.open() == ["user-0 suspected"])
        try eventually("rejected again") {
            try fixture.settle(fixture.answer(rejecting: ["user-0"], others: 2)).endings == [.removed]
        }
        let removal = try RemovalHistory.removals(
            RejectionFilter(),
            user: nil,
            limit: 1,
            in: &fixture.connection
        ).first
        #expect(removal?.reason == "confirmed")
    }

    @Test func `G3: two successes in a row clear a pusher; one and a rejection do not`() throws {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(3)
        try fixture.confirm(2)
        #expect(try fixture.settle(fixture.answer(rejecting: ["user-0"], others: 2)).endings == [.again])
        try fixture.settle(fixture.answer(rejecting: [], accepted: ["user-0"]))
        #expect(try fixture.settle(fixture.answer(rejecting: [], accepted: ["user-0"])).lapsed == 1)
        #expect(try fixture.open().isEmpty)
        #expect(try fixture.settle(fixture.answer(rejecting: ["user-0"], others: 2)).endings == [.again])
        // Both at once, in one flush.
        #expect(
            try fixture.settle(fixture.answer(rejecting: [], accepted: ["user-0", "user-0"])).lapsed == 1
        )
    }

    @Test func `M1: a registration that a worker of the version before renewed is kept too, and not listed`()
        throws
    {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(6)
        try fixture.settle(fixture.answer(rejecting: (0..<6).map { "user-\($0)" }))
        try fixture.connection.executeScript(
            "UPDATE pushers SET registered_at = registered_at + interval '1 second' WHERE user_id = 'user-2'"
        )
        #expect(
            try HeldRejections.list(RejectionFilter(), limit: 100, in: &fixture.connection).count == 5
        )
        #expect(try HeldRejections.apply(RejectionFilter(), by: "test", on: &fixture.connection) == 5)
        #expect(try fixture.pushers().map { $0.prefix(6) } == ["user-2"])
        #expect(try fixture.open().isEmpty)
        #expect(try RejectionLedger.openGates(from: &fixture.connection).isEmpty)
    }

    @Test func `successes that were lost count for the pushers`() throws {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(3)
        try fixture.confirm(2)
        try fixture.settle(fixture.answer(rejecting: ["user-0"], others: 2))
        var flush = try fixture.answer(rejecting: [], others: 1)
        flush.gates[0].isForgetful = true
        #expect(try fixture.settle(flush).lapsed == 1)
        #expect(try fixture.open().isEmpty)
    }

    @Test
    func
        `several sessions that flush the same gates and pushers at once wait for each other and lose nothing`()
        throws
    {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(200)
        let flushes = try (0..<200).map { try fixture.answer(rejecting: ["user-\($0)"], others: 99) }
        let url = fixture.url
        let threads = (0..<4).map { lane in
            Background {
                Result<Int, any Error> {
                    var connection = try Connection(connectingTo: Configuration(url))
                    let ledger = RejectionLedger(who: "dispatch/\(lane)")
                    var removed = 0
                    for number in 0..<200 where number % 4 == lane || number % 7 == 0 {
                        removed += try ledger.settle(flushes[number], on: &connection).removed
                    }
                    return removed
                }
            }
        }
        let removed = try threads.reduce(0) { try $0 + $1.value().get() }
        #expect(removed == 200)
        #expect(try fixture.pushers().isEmpty)
        #expect(try fixture.integer("SELECT count(*) FROM pusher_removals") == 200)
    }

    @Test
    func `M10: a removed pusher stays visible, without keys, and a registration takes its channels over`()
        throws
    {
        let fixture = try RegistrarFixture()
        try fixture.register(
            Line(user: "alice", pushkey: "old-key", channels: #""news":"enabled","alerts":"disabled""#),
            Line(user: "bob", pushkey: "bob-key")
        )
        try fixture.settle(fixture.answer(rejecting: ["alice"], others: 5))
        let before = try RemovalHistory.removals(
            RejectionFilter(),
            user: "alice",
            limit: 10,
            in: &fixture.connection
        )
        #expect(before.map(\.device) == ["Phone"])
        #expect(before.first?.restoredAt == nil)
        // A new key, no settings of its own.
        try fixture.register(Line(user: "alice", pushkey: "new-key", channels: ""))
        let stored = try fixture.stored("alice")
        #expect(stored.enabled == ["news"] && stored.disabled == ["alerts"])
        let after = try RemovalHistory.removals(
            RejectionFilter(),
            user: "alice",
            limit: 10,
            in: &fixture.connection
        )
        #expect(after.first?.restoredAt != nil)
        // Once; and not over settings that a registration brings.
        try fixture.register(Line(user: "alice", pushkey: "third-key", channels: ""))
        #expect(
            try fixture.integer(
                "SELECT sum(cardinality(enabled_channels)) FROM pushers WHERE user_id = 'alice'"
            ) == 1
        )
    }

    @Test func `M10: a device is known again by its pushkey too, and brings settings of its own if it likes`()
        throws
    {
        let fixture = try RegistrarFixture()
        try fixture.register(Line(user: "alice", pushkey: "key", channels: #""news":"enabled""#))
        try fixture.connection.executeScript("UPDATE pushers SET device_display_name = 'Another name'")
        try fixture.settle(fixture.answer(rejecting: ["alice"], others: 5))
        try fixture.register(Line(user: "alice", pushkey: "other", channels: #""alerts":"disabled""#))
        #expect(try fixture.stored("alice").enabled.isEmpty)
        try fixture.connection.executeScript("DELETE FROM pushers")
        try fixture.register(Line(user: "alice", pushkey: "key", channels: ""))
        #expect(try fixture.stored("alice").enabled == ["news"])
    }
}
