import Glibc
import JSON
import Kafka
import LocalServices
import Support
import Testing

/// The demonstration as a newcomer calls it; its temporary files go into a folder that must be empty afterwards.
@Suite struct DemoCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(prefix: "demo-test")
        // Shorter than a test's usual folder: a socket's path has 107 bytes. PostgreSQL's account must be able to pass.
        try #require(unsafe chmod(folder.path, 0o711) == 0)
    }

    private func run(_ line: String...) throws -> BuiltProgram.Outcome {
        try BuiltProgram.run(["demo"] + line, environment: ["TMPDIR": folder.path])
    }

    private var leftovers: [String] { Files.names(in: folder.path) }

    /// The summary's members in their order.
    private func members(_ text: String) throws -> [(name: String, value: Double)] {
        var members: [(name: String, value: Double)] = []
        try Reader.read(Array(text.utf8)) { reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                members.append((name.text, try reader.readDouble()))
            }
        }
        return members
    }

    private func check(_ outcome: BuiltProgram.Outcome, events: Double) throws {
        #expect(outcome.code == 0, "\(outcome.errors)")
        let members = try members(outcome.output)
        #expect(
            members.map(\.name) == [
                "triggers", "notifications", "opened", "lost", "duplicates", "seconds", "p50_ms", "p99_ms",
            ]
        )
        let values = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        #expect(values["triggers"] == events)
        #expect((values["notifications"] ?? 0) > events / 2)
        #expect(values["opened"] == values["notifications"])
        #expect(values["lost"] == 0)
        #expect(values["duplicates"] == 0)
        #expect((values["p50_ms"] ?? 0) > 0)
        #expect((values["p99_ms"] ?? 0) >= (values["p50_ms"] ?? .infinity))
        #expect(leftovers == [])
    }

    @Test func `json has the output to itself, and the stages go to standard error`() throws {
        let outcome = try run("--devices", "50", "--events", "200", "--json")
        try check(outcome, events: 200)
        #expect(outcome.output.split(separator: "\n").count == 1)
        #expect(outcome.errors.contains("trigger events published                     200"))
        #expect(outcome.errors.contains("✓ Each notification was opened once"))
    }

    @Test func `one device is enough, and a person reads message and summary`() throws {
        let outcome = try run("--devices", "1", "--events", "40")
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.errors == "")
        #expect(outcome.output.contains("1404 characters of Base64"))
        #expect(outcome.output.contains("│ Prescriptions "))
        #expect(outcome.output.contains("\n    triggers                40  "))
        #expect(!outcome.output.contains("\u{1b}"))
        #expect(leftovers == [])
    }

    @Test(.needsKafka) func `on a real Kafka it has topics of its own and takes them away`() throws {
        let servers = try KafkaService.shared().bootstrapServers
        let outcome = try run("--devices", "50", "--events", "200", "--json", "--bootstrap-servers", servers)
        try check(outcome, events: 200)
        let admin = try Admin(Kafka.Configuration(["bootstrap.servers": servers]))
        try eventually("the topics are gone") {
            try admin.topics(timeout: .seconds(30)).allSatisfy { !$0.name.hasPrefix("posthorn-demo-") }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal in the middle ends it in order, and what was published is summed up`(
        signal: Int32
    ) throws {
        let output = try TemporaryFolder()
        let program = try start(["--events", "1000000", "--rate", "100", "--devices", "20"], output)
        try eventually("events are on their way") { text(output).contains("\n  published ") }
        let postgres = try #require(postmaster())
        program.signal(signal)
        #expect(program.wait(upTo: .seconds(60)) == .exited(0))
        #expect(text(output).contains("stopped by a signal"))
        #expect(text(output).contains("✓ Each notification was opened once"))
        #expect(kill(postgres, 0) == -1 && errno == ESRCH)
        #expect(leftovers == [])
    }

    @Test func `a signal before the first event ends it, too, and leaves nothing`() throws {
        let output = try TemporaryFolder()
        let program = try start([], output)
        try eventually("a database is being made") { !leftovers.isEmpty }
        program.signal(SIGINT)
        #expect(program.wait(upTo: .seconds(60)) == .exited(75))
        #expect(text(output).contains("posthorn: stopped before the first event"))
        #expect(leftovers == [])
    }

    @Test func `without PostgreSQL it names Debian's package`() throws {
        let outcome = try BuiltProgram.run(
            ["demo"],
            environment: ["TMPDIR": folder.path, "POSTHORN_POSTGRES_BIN": "/nowhere"]
        )
        #expect(outcome.code == 69)
        #expect(outcome.errors.contains("Debian's package is postgresql"))
        #expect(leftovers == [])
    }

    @Test func `a broker that is away is told, and nothing is left`() throws {
        let outcome = try run("--bootstrap-servers", "127.0.0.1:1")
        #expect(outcome.code == 69, "\(outcome.errors)")
        #expect(outcome.errors.contains("posthorn: Kafka create topics: "))
        #expect(leftovers == [])
    }

    @Test func `a property that librdkafka does not know is told before anything is made`() throws {
        let outcome = try run("--kafka", "no.such.property=1")
        #expect(outcome.code == 78)
        #expect(outcome.output == "")
        #expect(leftovers == [])
    }

    @Test(.needsKafka) func `a signal while the topics are there takes them away, too`() throws {
        let servers = try KafkaService.shared().bootstrapServers
        let output = try TemporaryFolder()
        let program = try start(["--bootstrap-servers", servers], output)
        try eventually("the topics are there") { text(output).contains("✓ Kafka ") }
        program.signal(SIGTERM)
        #expect(program.wait(upTo: .seconds(60)) == .exited(75))
        let admin = try Admin(Kafka.Configuration(["bootstrap.servers": servers]))
        try eventually("the topics are gone") {
            try admin.topics(timeout: .seconds(30)).allSatisfy { !$0.name.hasPrefix("posthorn-demo-") }
        }
        #expect(leftovers == [])
    }

    // MARK: - A demonstration that still runs

    private func start(_ line: [String], _ output: TemporaryFolder) throws -> ChildProcess {
        var command = ChildProcess.Command(BuiltProgram.path, ["demo"] + line)
        command.environment = ["TMPDIR": folder.path]
        command.output = .file("\(output.path)/output")
        return try ChildProcess(command)
    }

    private func text(_ output: TemporaryFolder) -> String {
        String(decoding: Files.read("\(output.path)/output") ?? [], as: UTF8.self)
    }

    /// The first line of the server's lock file is its process.
    private func postmaster() -> pid_t? {
        guard let name = leftovers.first(where: { $0.hasPrefix("posthorn-pg-") }) else { return nil }
        let lock = Files.read("\(folder.path)/\(name)/data/postmaster.pid") ?? []
        return String(decoding: lock, as: UTF8.self).split(separator: "\n").first.flatMap { pid_t($0) }
    }
}
