import Glibc
import LocalServices
import Support
import Testing

/// `posthorn simulate gateway` as a process.
struct SimulateGatewayTests {
    private static let script = """
        {"origins": [
          {"name": "north", "phases": [{"name": "up"}, {"name": "down", "rules": [{"status": 503, "retry_after": 7}]}]},
          {"name": "south", "phases": [{"name": "up", "manner": "reference"}]}
        ]}
        """

    private static func request(_ method: String, _ path: String, _ body: String = "") -> String {
        """
        \(method) \(path) HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Type: application/json\r\n\
        Content-Length: \(body.utf8.count)\r\n\r\n\(body)
        """
    }

    private static func exchange(_ port: UInt16, _ request: String) throws -> String {
        let connection = try RawConnection(port: port)
        connection.send(request)
        return connection.receive(for: .seconds(30)).text
    }

    private static let notify = request(
        "POST",
        "/push/v1/notify/batch",
        #"{"notifications":[{"id":"a","notification":{"prio":"low","devices":[{"app_id":"x.apns","pushkey":"k"}]}}]}"#
    )

    @Test func `a script's gateways answer, tell what they received, and sum up in the end`() throws {
        let folder = try TemporaryFolder()
        try Files.write(Self.script, to: "\(folder.path)/script.json")
        var command = ChildProcess.Command(
            BuiltProgram.path,
            [
                "simulate", "gateway", "--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--ask",
                "127.0.0.1:0", "--script", "\(folder.path)/script.json",
            ]
        )
        command.output = .files(output: "\(folder.path)/output", error: "\(folder.path)/errors")
        let process = try ChildProcess(command)
        defer { process.stop(SIGKILL) }
        func output() -> String { String(decoding: Files.read("\(folder.path)/output") ?? [], as: UTF8.self) }
        try eventually("three addresses are told") { output().split(separator: "\n").count == 3 }
        let ports = try output().matches(of: /127\.0\.0\.1:(\d+)/).map { try #require(UInt16($0.output.1)) }
        #expect(output().contains("listening on http://127.0.0.1:\(ports[0]) as north\n"))

        #expect(try Self.exchange(ports[0], Self.notify).contains(#"{"id":"a","status":"success"}"#))
        let entered = try Self.exchange(ports[2], Self.request("POST", "/script/phase/down"))
        #expect(entered.contains(#"{"phase":"down","origins":["north"]}"#))
        #expect(try Self.exchange(ports[0], Self.notify).contains("Retry-After: 7".lowercased()))
        #expect(
            try Self.exchange(ports[1], Self.notify).contains(
                #"{"id":"a","status":"success","rejected":[],"error":null}"#
            )
        )
        #expect(try Self.exchange(ports[2], Self.request("GET", "/received/a")).contains(#""times":2"#))
        try eventually("the new phase is told") {
            String(decoding: Files.read("\(folder.path)/errors") ?? [], as: UTF8.self)
                == "north: phase down\n"
        }
        #expect(process.stop(SIGTERM) == .exited(0))
        #expect(
            output().hasSuffix(
                """
                north: 1 items in 2 requests (200: 1, 503: 1)
                south: 1 items in 1 requests (200: 1)
                1 ids, 1 repeats
                2 items in 3 requests

                """
            )
        )
    }

    @Test func `a script that is none is told with line and field`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/script.json"
        try Files.write("{\"origins\": [{\"phases\": [\n{\"name\": \"a\", \"lasts_s\": -1}]}]}", to: path)
        let outcome = try BuiltProgram.run([
            "simulate", "gateway", "--listen", "127.0.0.1:0", "--script", path,
        ])
        #expect(outcome.code == 65)
        #expect(outcome.output.isEmpty)
        #expect(
            outcome.errors.contains(
                "\(path), line 2: origins[0].phases[0].lasts_s: must be a number from 0.001 to 604800.0"
            )
        )
    }

    @Test func `there are as many addresses as origins without one`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/script.json"
        try Files.write(Self.script, to: path)
        let outcome = try BuiltProgram.run([
            "simulate", "gateway", "--listen", "127.0.0.1:0", "--script", path,
        ])
        #expect(outcome.code == 64)
        #expect(outcome.errors.contains("has 2 origins without an address of their own"))
        #expect(try BuiltProgram.run(["simulate", "gateway"]).code == 64)
        #expect(
            try BuiltProgram.run(["simulate", "gateway", "--script", "\(folder.path)/none.json"]).code == 66
        )
    }
}
