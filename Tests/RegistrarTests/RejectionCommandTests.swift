import Postgres
import Push
import Registrar
import Support
import Testing

/// `posthorn rejections` as an operator calls it, and the gateways' confirmations.
@Suite struct `The commands about rejections` {
    private func run(_ fixture: RegistrarFixture, _ line: String...) throws -> BuiltProgram.Outcome {
        try BuiltProgram.run(line, environment: ["POSTHORN_DATABASE_URL": fixture.url])
    }

    /// Thirty pushers, all of them held.
    private func storm() throws -> RegistrarFixture {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(30)
        try fixture.settle(fixture.answer(rejecting: (0..<30).map { "user-\($0)" }))
        return fixture
    }

    @Test func `list tells what is held, without users or pushkeys`() throws {
        let fixture = try storm()
        let list = try run(fixture, "rejections", "list", "--limit", "10")
        #expect(list.code == 0)
        let lines = list.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines[0].hasPrefix("GATEWAY")
                && lines[1].hasPrefix("https://gateway.example  de.example.app.apns  storm    30  20")
        )
        #expect(lines.count == 2 + 1 + 1 + 10 + 1 + 1)
        #expect(lines.suffix(2) == ["and 20 more", ""])
        #expect(!list.output.contains("user-") && !list.output.contains(RegistrarFixture.pushkey))
        #expect(list.output.contains("a-pu…(3"))

        let json = try run(fixture, "rejections", "list", "--json")
        #expect(json.output.split(separator: "\n").count == 30)
        #expect(
            json.output.hasPrefix(
                #"{"gateway":"https://gateway.example","app":"de.example.app.apns","cause":"storm","user":""#
            )
        )
        for filter in [
            ["--gateway", "https://other.example"], ["--app", "other"], ["--since", "2100-01-01T00:00:00Z"],
        ] {
            let none = try BuiltProgram.run(
                ["rejections", "list"] + filter,
                environment: ["POSTHORN_DATABASE_URL": fixture.url]
            )
            #expect(none.output == "no rejections are held\n", "\(filter)")
        }
        #expect(try run(fixture, "rejections", "list", "--since", "1h", "--json").output == json.output)
        #expect(try run(fixture, "rejections", "list", "--since", "yesterday").code == 64)
    }

    @Test func `apply deletes after a dry run, but not who registered anew, and is on record`() throws {
        let fixture = try storm()
        try fixture.register(Line(user: "user-7", pushkey: "\(RegistrarFixture.pushkey)-7"))
        #expect(try run(fixture, "rejections", "apply").code == 64)
        let dry = try run(fixture, "rejections", "apply", "--all", "--dry-run", "--json")
        #expect(
            dry.output
                == #"{"held":29,"groups":[{"gateway":"https://gateway.example","app":"de.example.app.apns","cause":"storm","held":29}]}"#
                + "\n"
        )
        #expect(
            try run(fixture, "rejections", "apply", "--all", "--dry-run").output.hasSuffix(
                "29 in all; nothing was changed\n"
            )
        )
        #expect(try fixture.pushers().count == 30)

        let applied = try run(
            fixture,
            "rejections",
            "apply",
            "--gateway",
            "https://gateway.example",
            "--operator",
            "night shift"
        )
        #expect(applied.output == "29 removed\n")
        #expect(try fixture.pushers() == ["user-7 de.example.app.apns \(RegistrarFixture.pushkey)-7"])
        let history = try run(fixture, "rejections", "history", "--json", "--limit", "50")
        #expect(history.output.split(separator: "\n").count == 29)
        #expect(history.output.contains(#""removed_by":"night shift","reason":"applied""#))
        #expect(!history.output.contains(RegistrarFixture.pushkey) && !history.output.contains("user-"))
        #expect(
            try run(fixture, "rejections", "history", "--user", "user-3", "--json").output.split(
                separator: "\n"
            ).count == 1
        )
        let decisions = try run(fixture, "rejections", "history", "--decisions", "--json")
        #expect(
            decisions.output.contains(
                #""decided_by":"night shift","decision":"apply","pushers":29,"gateway":"https://gateway.example""#
            )
        )
        // The guard has learned that so many are usual here.
        #expect(
            try fixture.integer(
                "SELECT count(*) FROM rejection_gates WHERE holding_since IS NULL AND history_rejected > 28"
            ) == 1
        )
        #expect(try run(fixture, "rejections", "apply", "--all").output == "0 removed\n")
    }

    @Test func `discard keeps the pushers, lets the guard begin anew, and is on record`() throws {
        let fixture = try storm()
        let discarded = try run(fixture, "rejections", "discard", "--all", "--json")
        #expect(discarded.code == 0)
        #expect(discarded.output.hasPrefix(#"{"kept":30,"operator":""#))
        #expect(try fixture.pushers().count == 30)
        #expect(try run(fixture, "rejections", "list").output == "no rejections are held\n")
        #expect(try run(fixture, "rejections", "history").output.split(separator: "\n").count == 1)
        let decisions = try run(fixture, "rejections", "history", "--decisions")
        #expect(decisions.output.contains("discard       30"))
        #expect(
            try fixture.integer("SELECT count(*) FROM rejection_gates WHERE holding_since IS NOT NULL") == 0
        )
        // A single dead key is believed again.
        #expect(try fixture.settle(fixture.answer(rejecting: ["user-1"], others: 20)).endings == [.removed])
    }

    @Test func `gateways say how many rejections they take`() throws {
        let fixture = try RegistrarFixture()
        let added = try run(
            fixture,
            "gateways",
            "add",
            "https://gateway.example",
            "--confirm-rejections",
            "2"
        )
        #expect(added.output == "https://gateway.example changed\n")
        #expect(
            try run(fixture, "gateways", "list", "--json").output.contains(
                #""confirm_rejections":2,"pushers":0"#
            )
        )
        #expect(try run(fixture, "gateways", "list").output.contains("CONFIRM"))
        #expect(
            try run(fixture, "gateways", "add", "https://gateway.example", "--confirm-rejections", "0").code
                == 64
        )
        #expect(
            try run(fixture, "gateways", "add", "https://gateway.example", "--confirm-rejections", "11").code
                == 64
        )
        let list = try GatewayList(from: &fixture.connection)
        #expect(try list[GatewayOrigin("https://gateway.example")]?.confirmRejections == 2)
    }

    @Test func `a large storm is applied in steps, each of which is kept`() throws {
        let fixture = try RegistrarFixture()
        try fixture.registerMany(2500)
        try fixture.settle(fixture.answer(rejecting: (0..<2500).map { "user-\($0)" }))
        var told: [Int64] = []
        let count = try HeldRejections.apply(RejectionFilter(), by: "test", on: &fixture.connection) {
            told.append($0)
        }
        #expect(count == 2500)
        #expect(told == [1000, 2000, 2500, 2500])
        #expect(try fixture.pushers().isEmpty)
    }

    @Test func `workers of the version before go on as they did`() throws {
        let fixture = try storm()
        // What they run: an entry without confirmations, and a deletion without a look.
        try fixture.connection.executeScript(
            """
            INSERT INTO gateways (origin, dialect, allow_private, insecure, ca_file, client_certificate_file, client_key_file)
                VALUES ('https://gateway.example', 'gematik-1.2', false, false, NULL, NULL, NULL)
                ON CONFLICT (origin) DO UPDATE SET dialect = excluded.dialect;
            DELETE FROM pushers WHERE user_id = 'user-3';
            """
        )
        #expect(try fixture.open().count == 29)
        #expect(
            try fixture.integer(
                "SELECT confirm_rejections::int8 FROM gateways WHERE origin = 'https://gateway.example'"
            ) == 1
        )
    }
}
