import Kafka
import Postgres
import Push
import Support
import Testing

@testable import DeadLetters

/// What `dead-letters purge` wants to be told before it gives letters up.
@Suite(.serialized, .needsKafka) struct PurgeConfirmationTests {
    /// Twelve letters, four of which have expired.
    private func fixture() throws -> Fixture {
        let fixture = try Fixture()
        var letters = (0..<12).map { TestLetter($0) }
        for index in 0..<4 { letters[index].reason = "expired" }
        try fixture.publish(letters)
        return fixture
    }

    private func purge(_ fixture: Fixture, _ words: String...) throws -> Conversation {
        try Conversation(["dead-letters", "purge"] + words, environment: fixture.environment)
    }

    private func audit(_ fixture: Fixture) throws -> [AuditBook.Entry] {
        try AuditBook.newest(10, from: &fixture.connection)
    }

    @Test func `the number of letters, typed on a terminal, gives them up, and that is written down`() throws
    {
        let fixture = try fixture()
        let some = try purge(fixture, "--reason", "expired", "--json")
        try some.expect("4 letters of \(fixture.dispatch.topic) are given up for good. Type 4 to do so: ")
        #expect(try fixture.open().count == 12, "nothing happens before")
        some.type("4\n")
        let outcome = try some.outcome()
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains(#""matched":4,"#), "\(outcome.output)")
        #expect(outcome.output.split(separator: "\n").count == 1, "what is asked is no output")
        #expect(try fixture.open().count == 8)

        let rest = try purge(fixture, "--everything")
        try rest.expect("Type 8 to do so: ")
        rest.type("8\n")
        #expect(try rest.outcome().code == 0)
        #expect(try fixture.open().isEmpty)
        let entries = try audit(fixture)
        #expect(entries.map(\.action) == ["purge", "purge"])
        #expect(entries.allSatisfy { $0.operator == "anna" && $0.topic == fixture.dispatch.topic })
        #expect(entries[1].filter.contains("expired") && entries[1].outcome.contains(#""matched":4"#))

        let none = try purge(fixture, "--everything").outcome()
        #expect(none.code == 0 && none.output.hasPrefix("0 letters of "), "nobody is asked: \(none)")
        #expect(!none.errors.contains("Type"))
        #expect(try fixture.integer("SELECT count(*) FROM dead_letter_locks") == 0)
    }

    @Test(arguments: ["y\n", "yes\n", "\n", "5\n", "44\n", " 4\n", "4 \n", "4", "04\n", PseudoTerminal.end])
    func `whatever else is typed leaves everything as it is`(_ typed: String) throws {
        let fixture = try fixture()
        let conversation = try purge(fixture, "--reason", "expired")
        try conversation.expect("Type 4 to do so: ")
        conversation.type(typed)
        // A line that was begun and never ended.
        if typed == "4" { conversation.hangUp() }
        let outcome = try conversation.outcome()
        #expect(outcome.code == 75)
        #expect(outcome.errors.hasSuffix("posthorn: nothing was purged\n"), "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
        #expect(try fixture.open().count == 12)
        #expect(try audit(fixture).isEmpty)
        #expect(try fixture.integer("SELECT count(*) FROM dead_letter_locks") == 0)
    }

    @Test func `without a terminal it must be told by the option, whatever the input says`() throws {
        let fixture = try fixture()
        for input in ["4\n", "", "yes\n"] {
            let refused = try fixture.posthorn("purge", "--reason", "expired", input: input)
            #expect(refused.code == 64)
            #expect(refused.errors.contains("nobody is there to confirm a purge\nSay --yes.\n"))
        }
        #expect(try fixture.posthorn("purge", "--yes").code == 64, "without a filter")
        #expect(try fixture.open().count == 12)
        #expect(try audit(fixture).isEmpty)

        let done = try fixture.posthorn("purge", "--reason", "expired", "--yes", "--operator", "bert")
        #expect(done.code == 0 && done.output.hasPrefix("4 letters of "), "\(done.errors)")
        #expect(try fixture.open().count == 8)
        #expect(try audit(fixture).map(\.operator) == ["bert"])
    }

    @Test func `who thinks for long loses neither the session nor what has come meanwhile`() throws {
        let fixture = try fixture()
        let conversation = try purge(fixture, "--everything")
        try conversation.expect("Type 12 to do so: ")
        try fixture.publish([TestLetter(98), TestLetter(99)])
        try fixture.connection.executeScript(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        )
        try eventually("the session is gone") {
            try fixture.integer("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
                == 1
        }
        conversation.type("12\n")
        let outcome = try conversation.outcome()
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("12 letters of "), "\(outcome.output)")
        let left = try fixture.open().compactMap { $0.record.headers.text("event") }
        #expect(left.sorted() == ["event-98", "event-99"])
    }
}
