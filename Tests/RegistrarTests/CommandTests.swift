import LocalServices
import Postgres
import Schema
import Support
import Testing

/// The commands as an operator calls them.
@Suite struct CommandTests {
    private let url: String
    private let folder: TemporaryFolder

    init() throws {
        url = try PostgresService.freshDatabase()
        folder = try TemporaryFolder()
    }

    private func run(_ line: String..., input: String? = nil) throws -> BuiltProgram.Outcome {
        try BuiltProgram.run(
            line,
            environment: ["POSTHORN_DATABASE_URL": url, "POSTHORN_KEY_FILE": "\(folder.path)/keys"],
            input: input
        )
    }

    /// Schema, key, gateway and channel.
    private func prepare() throws {
        for line in [
            ["migrate"], ["keys", "generate"], ["gateways", "add", "https://gateway.example"],
            ["channels", "add", "news", "--trigger-type", "example.news", "--default", "enabled"],
        ] {
            let outcome = try BuiltProgram.run(
                line,
                environment: ["POSTHORN_DATABASE_URL": url, "POSTHORN_KEY_FILE": "\(folder.path)/keys"]
            )
            #expect(outcome.code == 0, "\(line): \(outcome.errors)")
        }
        var connection = try Connection(connectingTo: Configuration(url))
        try connection.executeScript(
            "CREATE OR REPLACE FUNCTION current_month(zone text) RETURNS integer LANGUAGE sql STABLE RETURN 24321"
        )
    }

    @Test func `migrate says what it applied, and nothing the second time`() throws {
        let before = try run("migrate", "--status", "--json")
        let files = Migration.all.map(\.fileName)
        let pending = files.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(before.output == #"{"applied":[],"pending":[\#(pending)]}"# + "\n")
        let first = try run("migrate")
        #expect(first.code == 0)
        #expect(first.output == files.map { "\($0) applied\n" }.joined())
        #expect(try run("migrate").output == "the schema is up to date\n")
        #expect(try run("migrate", "--status").output == files.map { "\($0) is applied\n" }.joined())
    }

    @Test func `a database that is away or has no schema is told by exit code`() throws {
        let away = try BuiltProgram.run(
            ["channels", "list"],
            environment: ["POSTHORN_DATABASE_URL": "postgresql://u:s3cr3t@127.0.0.1:1/x"]
        )
        #expect(away.code == 69)
        #expect(!away.errors.contains("s3cr3t"))
        let empty = try run("channels", "list")
        #expect(empty.code == 78)
        #expect(empty.errors.contains("posthorn migrate"))
    }

    @Test func `gateways are added, listed and removed`() throws {
        try prepare()
        let refused = try run("gateways", "add", "http://127.0.0.1:8080")
        #expect(refused.code == 64)
        #expect(refused.errors.contains("--allow-private") && refused.errors.contains("--insecure"))
        let added = try run("gateways", "add", "http://127.0.0.1:8080", "--allow-private", "--insecure")
        #expect(added.output == "http://127.0.0.1:8080 added\n")
        #expect(try run("gateways", "add", "https://gateway.example/path").code == 64)
        let list = try run("gateways", "list", "--json")
        #expect(list.output.split(separator: "\n").count == 2)
        #expect(
            list.output.contains(
                #""origin":"http://127.0.0.1:8080","dialect":"gematik-1.2","allow_private":true,"insecure":true"#
            )
        )
        #expect(try run("gateways", "remove", "http://127.0.0.1:8080").code == 0)
        #expect(try run("gateways", "remove", "http://127.0.0.1:8080").code == 65)
    }

    @Test func `channels are added, changed and listed`() throws {
        try prepare()
        let moved = try run("channels", "add", "alerts", "--trigger-type", "example.news", "--allow-plain")
        #expect(moved.output == "alerts added\ntrigger type example.news moved here from news\n")
        #expect(
            try run("channels", "list", "--json").output == """
                {"id":"alerts","default":"not_set","allow_plain":true,"trigger_types":["example.news"]}
                {"id":"news","default":"enabled","allow_plain":false,"trigger_types":[]}

                """
        )
        #expect(try run("channels", "add", "a b").code == 64)
        #expect(try run("channels", "add", "x", "--default", "on").code == 64)
    }

    @Test func `an import tells of bad lines by number and field, and takes the others`() throws {
        try prepare()
        let input = [
            Line(user: "alice", pushkey: "1").text, "no JSON", "",
            Line(user: "bob", pushkey: "2", url: "https://10.0.0.1/push/v1/").text,
            Line(user: "carol", pushkey: "3").text, String(repeating: "x", count: 70_000),
        ].joined(separator: "\n")
        let outcome = try run("pushers", "import", "--json", input: input)
        #expect(outcome.code == 65)
        let complaints = outcome.errors.split(separator: "\n")
        #expect(complaints.count == 3)
        #expect(complaints[0].hasPrefix("posthorn: line 2: "))
        #expect(complaints[1] == "posthorn: line 4: pusher.data.url: is at no gateway of the operator's list")
        #expect(complaints[2] == "posthorn: line 6: the line is longer than 65536 bytes")
        #expect(outcome.output.hasPrefix(#"{"registered":2,"removed":0,"displaced":0,"bad":3,"#))
        #expect(try run("pushers", "count").output == "2\n")
        #expect(try run("pushers", "count", "--user", "alice", "--json").output == #"{"pushers":1}"# + "\n")
    }

    @Test func `strict stops at the first bad line, with what came before it in`() throws {
        try prepare()
        let path = "\(folder.path)/lines"
        try Files.write(
            [Line(user: "alice", pushkey: "1").text, "{}", Line(user: "carol", pushkey: "3").text].joined(
                separator: "\n"
            ),
            to: path
        )
        let outcome = try run("pushers", "import", path, "--strict")
        #expect(outcome.code == 65)
        #expect(outcome.errors == "posthorn: line 2: user: missing\n")
        #expect(try run("pushers", "count").output == "1\n")
        #expect(try run("pushers", "import", "\(folder.path)/nothing").code == 66)
    }

    @Test func `pushers are removed by user and device, never all at once`() throws {
        try prepare()
        let lines =
            ["1", "2", "3"].map { Line(user: "alice", pushkey: $0).text } + [
                Line(user: "bob", pushkey: "4").text
            ]
        #expect(try run("pushers", "import", input: lines.joined(separator: "\n")).code == 0)
        #expect(try run("pushers", "remove").code == 64)
        #expect(try run("pushers", "remove", "--user", "alice", "--app", "de.example.app.apns").code == 64)
        #expect(try run("pushers", "remove", "--user", "alice", "--pushkey", "1").code == 64)
        let app = "de.example.app.apns"
        #expect(
            try run("pushers", "remove", "--user", "alice", "--app", app, "--pushkey-file", "-", input: "1\n")
                .output
                == "1 removed\n"
        )
        #expect(
            try run("pushers", "remove", "--user", "alice", "--app", app, "--pushkey", "2", "--json").output
                == #"{"removed":1}"# + "\n"
        )
        #expect(try run("pushers", "remove", "--user", "alice").output == "1 removed\n")
        #expect(try run("pushers", "remove", "--user", "alice").output == "0 removed\n")
        #expect(try run("gateways", "remove", "https://gateway.example").code == 65)
    }

    @Test func `keys are generated for the owner only, and chains re-sealed under the newest`() throws {
        try prepare()
        let lines = (0..<20).map { Line(user: "user-\($0)", pushkey: "\($0)").text }
        #expect(try run("pushers", "import", input: lines.joined(separator: "\n")).code == 0)
        let generated = try run("keys", "generate", "--id", "2026-b")
        #expect(generated.output == "2026-b\n")
        #expect(try run("keys", "generate", "--id", "2026-b").code == 78)
        let resealed = try run("keys", "reseal", "--json")
        #expect(resealed.code == 0)
        #expect(
            resealed.output == #"{"active":"2026-b","resealed":20,"damaged":0,"chains":{"2026-b":20}}"# + "\n"
        )
        let text = String(decoding: Files.read("\(folder.path)/keys") ?? [], as: UTF8.self)
        let newest = text.split(separator: "\n")[0].split(separator: " ")[1]
        for outcome in [generated, resealed] {
            #expect(!outcome.output.contains(newest) && !outcome.errors.contains(newest))
        }
    }
}
