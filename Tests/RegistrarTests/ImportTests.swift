import Postgres
import Push
import Registrar
import Sealing
import Support
import Testing

@Suite struct ImportTests {
    @Test func `a registration is stored with its first generation sealed`() throws {
        let fixture = try RegistrarFixture()
        let tally = try fixture.register(Line(channels: #""news":"enabled","alerts":"disabled""#))
        #expect(tally == ImportTally(written: 1))
        let stored = try fixture.stored("A123456789")
        #expect(stored.keyIdentifier == "key-1")
        #expect(stored.month == Month("2026-10"))
        #expect(stored.keyID == "first")
        #expect(stored.enabled == ["news"])
        #expect(stored.disabled == ["alerts"])
        #expect(stored.data == #"{"custom":[1,2]}"#)
        #expect(stored.url == "https://gateway.example/push/v1/")
        #expect(try fixture.open(stored) == RegistrarFixture.firstGeneration(1, Month("2026-10")!))
    }

    @Test func `M1: registering again replaces chain and channels, keeps the id and moves the time forward`()
        throws
    {
        let fixture = try RegistrarFixture()
        try fixture.register(Line())
        // A clock that was set back must not make the new registration older.
        try fixture.connection.execute("UPDATE pushers SET registered_at = now() + interval '1 hour'")
        let before = try fixture.stored("A123456789")
        let tally = try fixture.register(
            Line(iss: 2, month: "2026-09", keyIdentifier: "key-2", channels: #""alerts":"not_set""#)
        )
        #expect(tally == ImportTally(written: 1))
        let after = try fixture.stored("A123456789")
        #expect(after.pusher == before.pusher)
        #expect(after.keyIdentifier == "key-2")
        #expect(after.month == Month("2026-09"))
        #expect(after.enabled.isEmpty)
        #expect(after.disabled == ["alerts"])
        #expect(after.registered > before.registered)
        #expect(try fixture.open(after) == RegistrarFixture.firstGeneration(2, Month("2026-09")!))
        #expect(try fixture.integer("SELECT count(*) FROM pushers") == 1)
    }

    @Test func `a pusher may come without keys, and lose those it had`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(Line())
        try fixture.register(Line(iss: nil))
        let stored = try fixture.stored("A123456789")
        #expect(
            stored.sealed == nil && stored.month == nil && stored.keyID == nil && stored.keyIdentifier == nil
        )
    }

    @Test func `the older dialect has chains without a key identifier`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(Line(url: "https://old.example/_matrix/push/v1/notify", keyIdentifier: nil))
        let stored = try fixture.stored("A123456789")
        #expect(stored.keyIdentifier == nil)
        #expect(try fixture.open(stored) == RegistrarFixture.firstGeneration(1, Month("2026-10")!))
    }

    @Test func `M2: a device that changes hands leaves its first user`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(
            Line(user: "alice"),
            Line(user: "alice", pushkey: "other"),
            Line(user: "carol", app: "de.example.other.apns")
        )
        let tally = try fixture.register(Line(user: "bob"))
        #expect(tally == ImportTally(written: 1, displaced: 1))
        #expect(
            try fixture.pushers() == [
                "alice de.example.app.apns other", "bob de.example.app.apns pushkey-1",
                "carol de.example.other.apns pushkey-1",
            ]
        )
    }

    @Test func `M2: with append both users keep the device`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(Line(user: "alice"))
        let tally = try fixture.register(Line(user: "bob", append: true))
        #expect(tally == ImportTally(written: 1))
        #expect(try fixture.pushers().count == 2)
    }

    @Test func `kind null removes this user's pusher only, and an unknown one is no error`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(Line(user: "alice"), Line(user: "bob", append: true))
        let tally = try fixture.register(
            Line(user: "alice", isRemoval: true),
            Line(user: "nobody", pushkey: "unknown", isRemoval: true)
        )
        #expect(tally == ImportTally(removed: 1))
        #expect(try fixture.pushers() == ["bob de.example.app.apns pushkey-1"])
    }

    @Test func `of the same pusher twice in a batch the last line wins`() throws {
        let fixture = try RegistrarFixture()
        let tally = try fixture.register(Line(iss: 1), Line(iss: 2), Line(iss: 3, keyIdentifier: "last"))
        #expect(tally == ImportTally(written: 1))
        let stored = try fixture.stored("A123456789")
        #expect(stored.keyIdentifier == "last")
        #expect(try fixture.open(stored) == RegistrarFixture.firstGeneration(3, Month("2026-10")!))
    }

    @Test func `texts that only look the same are different devices`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(Line(pushkey: "caf\u{e9}"), Line(pushkey: "cafe\u{301}"))
        #expect(try fixture.integer("SELECT count(*) FROM pushers") == 2)
    }

    /// Any order of registrations and removals gives the same whether it is written at once or line by line.
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `a batch does what its lines do one after the other`(seed: UInt64) throws {
        var random = SmallRandom(state: seed)
        let lines = (0..<60).map { _ in
            Line(
                user: "user-\(random.below(4))",
                pushkey: "key-\(random.below(3))",
                iss: UInt8(random.below(200)),
                append: [nil, true, false][random.below(3)],
                isRemoval: random.below(4) == 0
            )
        }
        let atOnce = try RegistrarFixture()
        let oneByOne = try RegistrarFixture()
        try atOnce.register(lines)
        for line in lines { try oneByOne.register(line) }
        #expect(try atOnce.pushers() == oneByOne.pushers())
        #expect(try secrets(atOnce) == secrets(oneByOne))
    }

    private func secrets(_ fixture: RegistrarFixture) throws -> [[UInt8]] {
        let rows = try fixture.connection.query(
            "SELECT pusher_id, chain_month, chain_key_id, chain_sealed FROM pushers ORDER BY user_id, app_id, pushkey"
        )
        return try (0..<rows.count).map { row in
            let id = try rows.uuid(row, 0)
            return try fixture.open(
                RegistrarFixture.Stored(
                    pusher: PusherID(bytes: id.span)!,
                    keyIdentifier: nil,
                    month: Month(ordinal: try rows.int4(row, 1)),
                    keyID: try rows.text(row, 2),
                    sealed: try rows.bytea(row, 3),
                    enabled: [],
                    disabled: [],
                    registered: 0,
                    data: nil,
                    url: ""
                )
            )
        }
    }
}

/// Numbers that look random and are the same in every run (splitmix64).
struct SmallRandom {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
