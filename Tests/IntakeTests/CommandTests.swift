import Kafka
import LocalServices
import Support
import Testing

/// `publish` and `topics` as an operator calls them.
@Suite(.needsKafka) struct CommandTests {
    private let servers: String
    private let prefix = "\(uniqueName("commands"))-"

    init() throws { servers = try KafkaService.shared().bootstrapServers }

    private func run(_ line: String..., input: String? = nil) throws -> BuiltProgram.Outcome {
        try BuiltProgram.run(
            line,
            environment: [
                "POSTHORN_KAFKA_BOOTSTRAP_SERVERS": servers, "POSTHORN_TOPIC_PREFIX": prefix,
                "POSTHORN_KAFKA_LINGER_MS": "5",
            ],
            input: input
        )
    }

    private func text(_ id: String, user: String = "alice") -> String {
        String(decoding: PublisherTests.event(id, user: user), as: UTF8.self)
    }

    @Test func `topics are made and compared`() throws {
        let before = try run("topics", "check", "--partitions", "2")
        #expect(before.code == 65)
        #expect(before.output.contains("\(prefix)push.triggers: is missing\n"))
        let made = try run("topics", "create", "--partitions", "2", "--replication", "1")
        #expect(made.code == 0, "\(made.errors)")
        #expect(made.output.contains("\(prefix)push.notifications.retry.30s created\n"))
        try eventually("the broker shows the topics") {
            try run("topics", "check", "--partitions", "2").code == 0
        }
        #expect(try run("topics", "create", "--json").output.contains(#"push.triggers","outcome":"exists"}"#))
        let other = try run("topics", "check", "--json")
        #expect(other.code == 65)
        #expect(
            other.output.contains(
                #"push.triggers","kind":"partitions","what":"partitions","actual":"2","expected":"12"}"#
            )
        )
    }

    @Test func `lines are published, bad ones told by number and field`() throws {
        #expect(try run("topics", "create", "--partitions", "2").code == 0)
        let input = [text("1"), "{", text("2", user: "no user!"), "", text("3")].joined(separator: "\n")
        let outcome = try run("publish", "--json", input: input)
        #expect(outcome.code == 65)
        #expect(outcome.output.hasPrefix(#"{"sent":2,"bad":2,"failed":0,"seconds":"#))
        let complaints = outcome.errors.split(separator: "\n")
        #expect(complaints.count == 2)
        #expect(complaints[0].hasPrefix("posthorn: line 2: "))
        #expect(complaints[1].hasPrefix("posthorn: line 3: subject: "))
        let records = try PublisherTests.records(
            Kafka.Configuration(["bootstrap.servers": servers]),
            "\(prefix)push.triggers",
            partitions: 2,
            count: 2
        )
        #expect(records.compactMap { $0.headers.text("ce_id") } == ["1", "3"])
        #expect(try run("publish", input: text("4")).code == 0)
    }

    @Test func `strict stops at the first bad line, and a missing file is no input`() throws {
        #expect(try run("topics", "create", "--partitions", "1").code == 0)
        let folder = try TemporaryFolder()
        try Files.write([text("1"), "{", text("2")].joined(separator: "\n"), to: "\(folder.path)/events")
        let outcome = try run("publish", "\(folder.path)/events", "--strict", "--json")
        #expect(outcome.code == 65)
        #expect(outcome.output.hasPrefix(#"{"sent":1,"bad":1,"failed":0,"#))
        #expect(try run("publish", "\(folder.path)/nothing").code == 66)
    }

    @Test func `a rate is kept`() throws {
        #expect(try run("topics", "create", "--partitions", "1").code == 0)
        let start = ContinuousClock.now
        let outcome = try run(
            "publish",
            "--rate",
            "20",
            input: (0..<30).map { text("\($0)") }.joined(separator: "\n")
        )
        #expect(outcome.code == 0)
        #expect(ContinuousClock.now - start >= .milliseconds(1300))
    }

    @Test func `a broker that is away gives exit code 75, and a property that is none 78`() throws {
        let outcome = try BuiltProgram.run(
            ["publish", "--bootstrap-servers", "127.0.0.1:1", "--kafka", "message.timeout.ms=1000"],
            input: text("1")
        )
        #expect(outcome.code == 75)
        #expect(outcome.errors.contains("posthorn: line 1: not delivered: "))
        #expect(try run("publish", "--kafka", "no.such.property=1", input: text("1")).code == 78)
    }
}
