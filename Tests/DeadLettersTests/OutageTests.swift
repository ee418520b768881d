import Glibc
import Kafka
import LocalServices
import Postgres
import Push
import Support
import Testing

@testable import DeadLetters

/// Replays in the middle of which the broker or the database goes away.
@Suite(.serialized, .needsKafka) struct OutageTests {
    private let broker: PrivateKafka
    private let database: PrivatePostgres
    private let fixture: Fixture
    private let folder: TemporaryFolder

    init() throws {
        broker = try OwnServers.broker()
        database = try OwnServers.database()
        let name = uniqueName("letters").replacing("-", with: "_")
        try database.createDatabase(name)
        folder = try TemporaryFolder()
        fixture = try Fixture(broker: broker, databaseURL: database.url(database: name))
    }

    /// 400 letters of that stage, all of which may be sent again.
    private func publish(_ kind: LetterSource.Kind) throws {
        guard kind != .encrypt else {
            let events = (0..<400).map { TestEvent($0).record }
            return try fixture.publish(events, to: fixture.topics.triggerDeadLetters)
        }
        let letters = (0..<400).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(letters)
    }

    /// A replay in a process of its own, about a quarter of which is done when this returns.
    private func begin(_ words: String...) throws -> (process: ChildProcess, output: String) {
        let output = "\(folder.path)/\(uniqueName("replay"))"
        var command = ChildProcess.Command(
            BuiltProgram.path,
            ["dead-letters", "replay", "--rate", "200"] + words
        )
        command.environment = fixture.environment.mapValues { $0 }
        // The broker is looked for again after a second at the latest, not ten.
        command.environment["POSTHORN_KAFKA_RECONNECT_BACKOFF_MAX_MS"] = "1000"
        command.output = .file(output)
        let process = try ChildProcess(command)
        try eventually("a part is sent") { try progress() >= 100 }
        return (process, output)
    }

    /// How far the newest replay is.
    private func progress() throws -> Int64 {
        try fixture.integer(
            "SELECT coalesce(sum(next_offset - first_offset), 0)::int8 FROM dead_letter_replay_progress"
        )
    }

    private func text(_ path: String) -> String {
        String(decoding: Files.read(path) ?? [], as: UTF8.self)
    }

    private func reconnect() throws { try fixture.connection.ensureConnected(within: .seconds(60)) }

    /// Every letter was sent, none twice.
    private func expectAll(_ kind: LetterSource.Kind = .dispatch) throws {
        let source = fixture.desk.source(kind)
        let name = kind == .encrypt ? "ce_id" : "event"
        let sent = try fixture.records(on: source.target).compactMap { $0.headers.text(name) }
        #expect(sent.sorted() == (0..<400).map { "event-\($0)" }.sorted())
        #expect(try fixture.open(source).isEmpty)
        #expect(try fixture.integer("SELECT count(*) FROM dead_letter_locks") == 0)
        #expect(try fixture.integer("SELECT count(*) FROM dead_letter_replays WHERE state <> 'done'") == 0)
    }

    // MARK: - For a moment

    @Test func `over a broker that stands still and one that is killed and started it goes on by itself`()
        throws
    {
        try publish(.dispatch)
        let (process, output) = try begin()
        broker.signal(SIGSTOP)
        // Long enough for the step under way to be felt, not so long that anything gives up.
        #expect(process.wait(upTo: .seconds(1)) == nil)
        broker.signal(SIGCONT)
        try eventually("it goes on") { try progress() >= 200 }
        broker.stop(abruptly: true)
        try broker.start()
        #expect(process.wait(upTo: .seconds(90)) == .exited(0), "\(text(output))")
        #expect(text(output).contains(": 400 replayed, 0 parked, 0 refused; "), "\(text(output))")
        try expectAll()
    }

    @Test(arguments: [false, true])
    func `over a database that is shut down or crashes and is started it goes on by itself`(
        isCrash: Bool
    ) throws {
        try publish(.dispatch)
        let (process, output) = try begin()
        database.stop(abruptly: isCrash)
        try database.start()
        #expect(process.wait(upTo: .seconds(90)) == .exited(0), "\(text(output))")
        #expect(text(output).contains(": 400 replayed, 0 parked, 0 refused; "), "\(text(output))")
        try reconnect()
        try expectAll()
    }

    // MARK: - For good

    @Test func `when the broker does not come back it says so, and is gone on with`() throws {
        // Of the two topics the one that is not meant where none is named.
        let kind = LetterSource.Kind.encrypt
        try publish(kind)
        let (process, output) = try begin("--stage", kind.rawValue, "--patience", "1s")
        broker.stop()
        let status = process.wait(upTo: .seconds(60))
        try broker.start()
        #expect(status == .exited(75), "\(text(output))")
        let command = try #require(resumption(in: text(output)), "\(text(output))")
        #expect(text(output).contains("\nstopped: Kafka "), "\(text(output))")
        let outcome = try BuiltProgram.run(command, environment: fixture.environment)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains(": 400 replayed, 0 parked, 0 refused; "), "\(outcome.output)")
        try expectAll(kind)
        let audit = try AuditBook.newest(10, from: &fixture.connection).map(\.action)
        #expect(audit == ["replay_done", "replay_resumed", "replay_stopped", "replay_started"])
    }

    @Test func `when the database does not come back it says so, and is gone on with`() throws {
        try publish(.dispatch)
        let (process, output) = try begin("--patience", "1s")
        database.stop()
        let status = process.wait(upTo: .seconds(60))
        try database.start()
        #expect(status == .exited(75), "\(text(output))")
        let command = try #require(resumption(in: text(output)), "\(text(output))")
        #expect(text(output).contains("could not be written down"), "\(text(output))")
        try reconnect()
        // Nobody could give the lock back; in a test it is not waited for.
        #expect(try BuiltProgram.run(command, environment: fixture.environment).code == 77)
        try fixture.connection.executeScript("UPDATE dead_letter_locks SET expires_at = now()")
        let told = try fixture.posthorn("replay", "--event", "nothing")
        #expect(told.code == 0 && told.errors.contains("is not done; go on with it by --resume"), "\(told)")
        let outcome = try BuiltProgram.run(command, environment: fixture.environment)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains(": 400 replayed, 0 parked, 0 refused; "), "\(outcome.output)")
        try expectAll()
    }

    /// The command that the output says to go on with, without the program's name.
    private func resumption(in output: String) -> [String]? {
        output.split(separator: "go on with 'posthorn ").dropFirst().first?.split(separator: "'").first?
            .split(separator: " ").map(String.init)
    }

    // MARK: - By somebody else

    @Test func `who loses the lock between Kafka's commit and its own note leaves the note to the next`()
        throws
    {
        try publish(.dispatch)
        // As if it had stood still until somebody else had taken the lock.
        try fixture.connection.executeScript(
            """
            CREATE FUNCTION take_lock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                UPDATE dead_letter_locks SET holder = gen_random_uuid(); RETURN NULL; END $$;
            CREATE TRIGGER take_lock AFTER UPDATE OF pending_tally ON dead_letter_replays
                FOR EACH ROW WHEN (NEW.pending_tally IS NOT NULL) EXECUTE FUNCTION take_lock();
            """
        )
        var settings = ReplaySettings()
        settings.step = 100
        let report = try fixture.replay(settings: settings)
        #expect(report.end == .failed(.unsettled(nil)))
        #expect(try fixture.ids(on: fixture.topics.notifications).count == 100, "Kafka has it")
        #expect(try progress() == 0, "it is not this one's to write down any more")
        try fixture.connection.executeScript(
            "DROP TRIGGER take_lock ON dead_letter_replays; DELETE FROM dead_letter_locks"
        )
        let resumed = try fixture.desk.replay(
            .resume(report.id),
            from: fixture.dispatch,
            ReplaySettings(),
            in: &fixture.connection
        )
        #expect(resumed.tally.replayed == 400)
        try expectAll()
    }
}
