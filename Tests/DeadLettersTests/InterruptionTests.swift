import Glibc
import Kafka
import LocalServices
import Postgres
import Push
import Support
import Testing

@testable import DeadLetters

/// Replays that are killed, stopped, overtaken or refused, and what holds then.
@Suite(.serialized) struct InterruptionTests {
    /// The program's replay in a process of its own.
    private func start(_ fixture: Fixture, _ words: String...) throws -> ChildProcess {
        var command = ChildProcess.Command(BuiltProgram.path, ["dead-letters", "replay"] + words)
        command.environment = fixture.environment.mapValues { $0 }
        command.output = .discard
        return try ChildProcess(command)
    }

    private func unfinished(_ fixture: Fixture) throws -> StoredReplay {
        try #require(try ReplayBook.unfinished(fixture.dispatch.topic, in: &fixture.connection).first)
    }

    @Test(.needsKafka)
    func `D7: a replay that is killed half way goes on with exactly what is left, and nothing is sent twice`()
        throws
    {
        let fixture = try Fixture()
        let letters = (0..<1000).map { number in
            var letter = TestLetter(number)
            letter.reason = ["out_of_attempts", "message_refused", "unknown_gateway"][number % 3]
            return letter
        }
        try fixture.publish(letters)
        try fixture.register(letters)
        let meant = letters.filter { $0.reason != "message_refused" }.map(\.id).sorted()
        let words = ["--reason", "out_of_attempts", "--reason", "unknown_gateway"]

        let dry = try fixture.posthorn(
            "replay",
            "--dry-run",
            "--json",
            words[0],
            words[1],
            words[2],
            words[3]
        )
        #expect(
            dry.code == 0 && dry.output.contains(#""matched":\#(meant.count),"replayed":\#(meant.count),"#)
        )
        #expect(try fixture.records(on: fixture.topics.notifications).isEmpty)

        let child = try start(fixture, words[0], words[1], words[2], words[3], "--rate", "400")
        try eventually("a good part is sent") {
            try fixture.integer(
                "SELECT coalesce(sum(next_offset - first_offset), 0)::int8 FROM dead_letter_replay_progress"
            )
                > 200
        }
        child.signal(SIGKILL)
        #expect(child.wait(upTo: .seconds(30)) == .killed(signal: SIGKILL))
        let replay = try unfinished(fixture)
        // The killed one's last transaction is still open; what was committed before it can be read.
        let before = try fixture.witness.records(on: fixture.topics.notifications)
        #expect(before.count > 0 && before.count < meant.count)

        // The killed one's lock is still there; nobody waits for it in a test.
        let locked = try fixture.posthorn("replay", "--resume", "\(replay.id)")
        #expect(locked.code == 77)
        #expect(locked.errors.contains("anna works on"))
        try fixture.connection.executeScript("UPDATE dead_letter_locks SET expires_at = now()")

        let resumed = try fixture.posthorn("replay", "--resume", "\(replay.id)", "--json")
        #expect(resumed.code == 0, "\(resumed.errors)")
        #expect(resumed.output.contains(#""replayed":\#(meant.count),"#))
        #expect(try fixture.ids(on: fixture.topics.notifications).sorted() == meant)
        #expect(try fixture.open().count == letters.count - meant.count)
        let again = try fixture.posthorn("replay", "--resume", "\(replay.id)")
        #expect(again.code == 65)
    }

    @Test(.needsKafka, arguments: [false, true])
    func `a step that was under way holds exactly if Kafka has committed it`(isCommitted: Bool) throws {
        let fixture = try Fixture(partitions: 1)
        let letters = (0..<10).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(letters)
        // A process that dies between announcing a step and hearing that it holds.
        let (bounds, book) = try fixture.desk.look(at: fixture.dispatch, in: &fixture.connection)
        try book.settle(bounds, in: &fixture.connection)
        let id = UUIDBytes(high: 7, low: 8)
        let replay = StoredReplay(
            id: id,
            topic: fixture.dispatch.topic,
            operator: "bert",
            filter: DeadLetterFilter(),
            rules: ReplayRules(),
            state: .running,
            tally: ReplayTally(),
            startedAt: Fixture.now,
            progress: [0: StoredReplay.Progress(bounds: 0..<10, next: 0)]
        )
        try ReplayBook.begin(replay, in: &fixture.connection)
        var step = Step(replay, fixture.dispatch)
        for letter in try fixture.open().prefix(4) {
            step.add(letter, .replay(isForced: false), now: Fixture.now)
        }
        try ReplayBook.announce(step.pending, of: id, in: &fixture.connection)
        do {
            var writer = try StepWriter(fixture.dispatch, fixture.kafka)
            let scanner = try Scanner(fixture.kafka, group: replay.group)
            try writer.begin()
            for record in step.records { try writer.write(record) }
            try writer.flush()
            if isCommitted {
                let place = TopicPartitionOffset(fixture.dispatch.topic, 0, offset: 4)
                try writer.commit([place], group: try scanner.groupMetadata())
            }
        }

        let report = try fixture.desk.replay(
            .resume(id),
            from: fixture.dispatch,
            ReplaySettings(),
            in: &fixture.connection
        )
        #expect(report.end == .finished && report.tally.replayed == 10)
        #expect(
            try fixture.ids(on: fixture.topics.notifications).sorted() == letters.map(\.id).sorted()
        )
    }

    @Test(.needsKafka)
    func `stopped by a signal it ends in order, says how to go on, and gives the lock back`() throws {
        let fixture = try Fixture()
        let letters = (0..<300).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(letters)
        let child = try start(fixture, "--rate", "50")
        try eventually("some are sent") {
            try fixture.integer("SELECT count(*) FROM dead_letter_dispositions") > 0
        }
        child.signal(SIGINT)
        #expect(child.wait(upTo: .seconds(30)) == .exited(75))
        let replay = try unfinished(fixture)
        #expect(replay.state == .stopped)
        let report = try fixture.desk.replay(
            .resume(replay.id),
            from: fixture.dispatch,
            ReplaySettings(),
            in: &fixture.connection
        )
        #expect(report.tally.replayed == 300)
        #expect(
            try fixture.ids(on: fixture.topics.notifications).sorted() == letters.map(\.id).sorted()
        )
    }

    @Test(.needsKafka)
    func `two operators cannot work on one topic at once, and a lock without life is free`() throws {
        let fixture = try Fixture()
        let lock = try TopicLock.take(
            fixture.dispatch.topic,
            operator: "bert",
            purpose: "replay",
            in: &fixture.connection
        )
        for words in [["replay"], ["park", "--everything"], ["purge", "--everything", "--yes"]] {
            let outcome = try BuiltProgram.run(["dead-letters"] + words, environment: fixture.environment)
            #expect(outcome.code == 77, "\(words)")
            #expect(outcome.errors.contains("bert"))
        }
        #expect(try fixture.posthorn("replay", "--stage", "encrypt").code == 0)
        #expect(try fixture.posthorn("replay", "--dry-run").code == 0)
        try fixture.connection.executeScript("UPDATE dead_letter_locks SET expires_at = now()")
        #expect(try fixture.posthorn("replay").code == 0)
        #expect(try !lock.renew(in: &fixture.connection))
        #expect(try fixture.integer("SELECT count(*) FROM dead_letter_locks") == 0)
    }

    @Test(.needsKafka) func `whoever has lost the lock commits nothing more`() throws {
        let fixture = try Fixture()
        let letters = (0..<40).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(letters)
        var settings = ReplaySettings()
        settings.step = 10
        let isFirst = Once()
        var thief = try Connection(connectingTo: Postgres.Configuration(fixture.databaseURL))
        let report = try fixture.replay(settings: settings) { _ in
            guard isFirst.take() else { return }
            _ = try? thief.executeScript("UPDATE dead_letter_locks SET holder = gen_random_uuid()")
        }
        #expect(report.end == .failed(.lockLost(topic: fixture.dispatch.topic)))
        #expect(report.tally.replayed == 10)
        #expect(try fixture.ids(on: fixture.topics.notifications).count == 10)
        _ = try thief.executeScript("DELETE FROM dead_letter_locks")
        #expect(try fixture.replay().tally.replayed == 30)
        #expect(
            try fixture.ids(on: fixture.topics.notifications).sorted() == letters.map(\.id).sorted()
        )
    }

    @Test(.needsKafka) func `letters of a replay that come back stop it`() throws {
        let fixture = try Fixture()
        let letters = (0..<50).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(letters)
        var settings = ReplaySettings()
        settings.step = 10
        settings.rate = 50
        settings.maximumReturns = 5
        let isFirst = Once()
        let report = try fixture.replay(settings: settings) { progress in
            guard isFirst.take() else { return }
            let returned = letters[..<6].map { letter in
                var letter = letter
                letter.replays = 1
                letter.replay = progress.replay.description
                return letter
            }
            try? fixture.publish(returned)
        }
        #expect(report.end == .returned(6))
        #expect(report.tally.replayed >= 10 && report.tally.replayed < 50)
        var filter = DeadLetterFilter()
        filter.replay = report.id.description
        #expect(try fixture.dryRun(filter).replayed == 6)
    }

    @Test(.needsKafka) func `it waits while the live lanes fall behind, and stops when they do not catch up`()
        throws
    {
        let fixture = try Fixture()
        let letters = (0..<60).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(letters)
        var settings = ReplaySettings()
        settings.step = 10
        settings.rate = 20
        settings.lagAllowance = 15
        settings.lagPatience = .seconds(2)
        let report = try fixture.replay(settings: settings)
        guard case .lagging(let excess) = report.end else {
            Issue.record("it ended otherwise: \(report.end)")
            return
        }
        #expect(excess > 15)
        #expect(report.tally.replayed > 0 && report.tally.replayed < 60)
    }

    @Test(.needsKafka) func `a topic that was made anew does not hide its letters behind old places`() throws
    {
        let fixture = try Fixture(partitions: 1)
        let letters = (0..<10).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(letters)
        let report = try fixture.replay(DeadLetterFilter(), ReplayRules(limit: 6))
        #expect(report.tally.replayed == 6)
        let admin = try Admin(fixture.kafka)
        _ = try admin.deleteTopics([fixture.dispatch.topic], timeout: .seconds(60))
        try eventually("the topic is gone") {
            try !admin.topics(timeout: .seconds(30)).contains { $0.name == fixture.dispatch.topic }
        }
        try fixture.createTopics([fixture.dispatch.topic], partitions: 1)
        try fixture.publish(Array(letters[..<5]))
        #expect(try fixture.open().count == 5)
        let listed = try fixture.posthorn("list", "--stage", "dispatch", "--json")
        #expect(listed.output.split(separator: "\n").count == 5)
        #expect(listed.errors.contains("made anew"))
        #expect(try fixture.replay().tally.replayed == 5)
        #expect(try fixture.open().isEmpty)
    }
}
