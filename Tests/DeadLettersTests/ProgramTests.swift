import JSON
import Kafka
import LocalServices
import Push
import Support
import Testing

@testable import DeadLetters

/// The commands as operators and scripts call them.
@Suite(.serialized) struct ProgramTests {
    private func lines(_ outcome: BuiltProgram.Outcome) -> [String] {
        outcome.output.split(separator: "\n").map(String.init)
    }

    @Test(.needsKafka) func `stats counts open letters by reason, gateway, app and age`() throws {
        let fixture = try Fixture()
        var letters = (0..<6).map { TestLetter($0) }
        letters[0].reason = "expired"
        letters[1].reason = "expired"
        letters[1].origin = "https://other.example"
        letters[2].app = "com.example.other"
        letters[3].failedAt = Fixture.now.adding(.seconds(-60))
        try fixture.publish(letters)
        try fixture.publish([TestEvent(1).record], to: fixture.topics.triggerDeadLetters)

        let json = try fixture.posthorn("stats", "--json")
        #expect(json.code == 0, "\(json.errors)")
        #expect(json.output.contains(#""letters":7,"#))
        #expect(
            json.output.contains(#""reasons":{"expired":2,"out_of_attempts":4,"unknown_channel":1}"#)
        )
        #expect(
            json.output.contains(
                #""gateways":{"https://gateway.example":5,"https://other.example":1,"unknown":1}"#
            )
        )
        #expect(
            json.output.contains(#""apps":{"com.example.app":5,"com.example.other":1,"unknown":1}"#)
        )
        #expect(json.output.contains(#""ages":{"7d_and_older":6,"under_1h":1}"#))

        let table = try fixture.posthorn("stats", "--stage", "dispatch", "--reason", "expired")
        #expect(table.output.contains("2 dead letters in"))
        #expect(table.output.contains("https://other.example"))
        let none = try fixture.posthorn("stats", "--app", "nobody")
        #expect(none.code == 0 && none.output.hasPrefix("no dead letters that match"))
    }

    @Test(.needsKafka)
    func `list shows the newest first, and neither it nor show lets a user, a pushkey or content out`() throws
    {
        let fixture = try Fixture()
        var letters = (0..<12).map { TestLetter($0) }
        for index in letters.indices {
            letters[index].failedAt = Fixture.now.adding(.seconds(-1000 + 10 * index))
        }
        try fixture.publish(letters)
        try fixture.register(letters)
        try fixture.publish([TestEvent(99).record], to: fixture.topics.triggerDeadLetters)

        let json = try fixture.posthorn("list", "--json", "--limit", "5")
        #expect(json.code == 0, "\(json.errors)")
        let events = lines(json).compactMap { line in
            line.split(separator: #""event":""#).dropFirst().first?.split(separator: "\"").first
        }
        #expect(events == ["event-11", "event-10", "event-9", "event-8", "event-7"])
        let table = try fixture.posthorn("list")
        #expect(lines(table).count == 14)
        #expect(table.output.contains("secr…("))

        let place = try #require(try fixture.open().first?.place)
        let trigger = try #require(try fixture.open(fixture.encrypt).first?.place)
        let shown = try fixture.posthorn("show", place)
        #expect(shown.code == 0 && shown.output.contains("why it is not tried again"))
        #expect(shown.output.contains("On a replay: it is sent to \(fixture.topics.notifications) again."))
        let event = try fixture.posthorn("show", trigger, "--stage", "encrypt")
        #expect(event.code == 0 && event.output.contains("bytes and is not shown"))
        let outputs = try [
            json, table, shown, event, fixture.posthorn("show", place, "--json"),
            fixture.posthorn("show", trigger, "--stage", "encrypt", "--json"), fixture.posthorn("stats"),
            fixture.posthorn("export", "--redacted"),
            fixture.posthorn("export", "--redacted", "--stage", "encrypt"),
            fixture.posthorn("replay", "--dry-run"), fixture.posthorn("replay", "--user", letters[0].user),
            fixture.posthorn("audit"), fixture.posthorn("audit", "--json"),
        ]
        for outcome in outputs {
            for secret in TestLetter.secrets {
                #expect(!(outcome.output + outcome.errors).contains(secret), "\(outcome.output)")
            }
        }
        #expect(try fixture.posthorn("show", "0:99999").code == 65)
        #expect(try fixture.posthorn("show", "nowhere").code == 64)
    }

    @Test(.needsKafka) func `every filter narrows, and all of them hold together`() throws {
        let fixture = try Fixture(partitions: 1)
        var letters = (0..<8).map { TestLetter($0) }
        letters[1].channel = "other"
        letters[2].attempts = 3
        letters[3].failedAt = Fixture.now.adding(.seconds(-60))
        try fixture.publish(letters)
        func places(_ words: String...) throws -> [String] {
            let outcome = try BuiltProgram.run(
                ["dead-letters", "list", "--json", "--stage", "dispatch"] + words,
                environment: fixture.environment
            )
            #expect(outcome.code == 0, "\(words): \(outcome.errors)")
            return lines(outcome).compactMap { line in
                let rest = line.split(separator: #""offset":"#).dropFirst().first
                return rest?.split(separator: ",").first.map(String.init)
            }.sorted()
        }
        #expect(try places().count == 8)
        #expect(try places("--channel", "other") == ["1"])
        #expect(try places("--attempts", "-5") == ["2"])
        #expect(try places("--since", "1h") == ["3"])
        #expect(try places("--until", "1h", "--offsets", "2-4") == ["2", "4"])
        #expect(try places("--until", "2023-01-01T00:00:00Z").isEmpty)
        #expect(try places("--user", letters[5].user) == ["5"])
        #expect(try places("--event", "event-6", "--event", "event-7") == ["6", "7"])
        #expect(try places("--event", "event-6", "--user", letters[5].user).isEmpty)
        #expect(try places("--gateway", "https://other.example").isEmpty)
        #expect(try places("--gateway", "https://gateway.example", "--partition", "0").count == 8)
        #expect(try places("--partition", "1").isEmpty)
    }

    @Test(.needsKafka) func `a replay ends with a code that scripts can use`() throws {
        let fixture = try Fixture()
        let letters = (0..<10).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(Array(letters[..<9]))
        let dry = try fixture.posthorn("replay", "--dry-run", "--json")
        #expect(dry.code == 0 && dry.output.contains(#""refusals":{"pusher_gone":1}"#))
        #expect(try fixture.posthorn("replay", "--dry-run").output.contains("pusher_gone"))
        let some = try fixture.posthorn("replay")
        #expect(some.code == 65)
        #expect(some.output.contains("9 replayed, 0 parked, 1 refused"))
        #expect(some.output.contains("stay open"))
        #expect(try fixture.posthorn("replay", "--event", "event-1").code == 0)
        for wrong in [
            ["replay", "--reason", "bad_luck"], ["replay", "--resume", "x"], ["replay", "--since", "soon"],
            ["replay", "--stage", "encrypt", "--parked"], ["park"], ["purge"], ["purge", "--everything"],
            ["export", "--stage", "encrypt"], ["replay", "--attempts", "9-3"],
            ["replay", "--resume", "00000000-0000-0000-0000-000000000000", "--limit", "3"],
        ] {
            let outcome = try BuiltProgram.run(
                ["dead-letters"] + wrong,
                environment: fixture.environment,
                input: ""
            )
            #expect(outcome.code == 64, "\(wrong): \(outcome.code) \(outcome.errors)")
        }
        let unknown = try fixture.posthorn("replay", "--resume", "00000000-0000-0000-0000-000000000000")
        #expect(unknown.code == 65)
    }

    @Test(.needsKafka) func `exported letters can be imported as they were, and bad lines are told by field`()
        throws
    {
        let fixture = try Fixture()
        var records = (0..<20).map { TestLetter($0).record }
        records[0].headers.append(Header("odd", [0xff, 0x00]))
        records[0].headers.append(Header("null", nil))
        records[1].value = nil
        records[2].key = nil
        records[2].value = []
        try fixture.publish(records, to: fixture.topics.notificationDeadLetters)
        let before = try fixture.records(on: fixture.topics.notificationDeadLetters)
        let exported = try fixture.posthorn("export")
        #expect(exported.code == 0 && lines(exported).count == 20)

        let other = try Fixture(partitions: 1)
        let bad = [
            "{}", "no JSON", #"{"stage":"delivery"}"#, #"{"stage":"dispatch","key":"***"}"#,
            #"{"stage":"dispatch","headers":[{"text":"x"}]}"#, #"{"stage":"dispatch","redacted":true}"#,
        ]
        let imported = try other.posthorn(
            "import",
            input: exported.output + bad.joined(separator: "\n") + "\n"
        )
        #expect(imported.code == 65)
        #expect(imported.output == "20 imported, 6 bad lines, 0 not delivered\n")
        for complaint in [
            "line 21: stage: ", "line 22: ", "line 23: stage: is neither encrypt nor dispatch",
            "line 24: key: is no Base64", "line 25: headers[0].name: ", "line 26: redacted: ",
        ] { #expect(imported.errors.contains(complaint), "\(complaint) in \(imported.errors)") }
        let after = try other.records(on: other.topics.notificationDeadLetters)
        func bare(_ records: [Record]) -> [String] {
            records.map { record in
                "\(String(describing: record.key)) \(String(describing: record.value)) "
                    + "\(record.timestamp ?? -1) \(Array(record.headers))"
            }.sorted()
        }
        #expect(bare(after) == bare(before))
        let audit = try AuditBook.newest(5, from: &fixture.connection)
        #expect(audit.map(\.action) == ["export"])
    }

    @Test(.needsKafka) func `a purge deletes a beginning, marks what lies behind, and says so`() throws {
        let fixture = try Fixture(partitions: 2)
        var letters = (0..<10).map { TestLetter($0) }
        for index in 5..<10 { letters[index].reason = "message_refused" }
        var records = letters.map(\.record)
        for index in records.indices { records[index].partition = 0 }
        try fixture.publish(records, to: fixture.topics.notificationDeadLetters)

        // In the middle: three of the letters behind the first five.
        let middle = try fixture.posthorn(
            "purge",
            "--reason",
            "message_refused",
            "--offsets",
            "6-8",
            "--yes",
            "--json"
        )
        #expect(middle.code == 0, "\(middle.errors)")
        #expect(middle.output.contains(#""matched":3,"deleted":0,"marked":3"#))
        #expect(try fixture.records(on: fixture.topics.notificationDeadLetters).count == 10)
        #expect(try fixture.open().map(\.facts.offset) == [0, 1, 2, 3, 4, 5, 9])

        let beginning = try fixture.posthorn("purge", "--reason", "out_of_attempts", "--yes")
        #expect(beginning.code == 0)
        #expect(beginning.output.contains("5 letters"))
        #expect(beginning.output.contains("5 deleted, 0 marked"))
        #expect(
            try fixture.records(on: fixture.topics.notificationDeadLetters).map(\.offset)
                == [5, 6, 7, 8, 9]
        )
        let rest = try fixture.posthorn("purge", "--everything", "--yes")
        #expect(rest.output.contains("2 deleted, 0 marked"))
        #expect(try fixture.desk.look(at: fixture.dispatch, in: &fixture.connection).bounds.span == 0)
        #expect(try fixture.open().isEmpty)
        let audit = try fixture.posthorn("audit", "--json")
        #expect(lines(audit).count == 3)
        #expect(audit.output.contains(#""operator":"anna","action":"purge""#))
    }
}
