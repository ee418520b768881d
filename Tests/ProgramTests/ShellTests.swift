internal import Glibc
import Hosting
import LocalServices
import Settings
import Support
import Testing

@testable import posthorn

struct ShellTests {
    /// What a run left on both streams.
    private struct Run {
        let code: ExitCode
        let output: String
        let errors: String
    }

    private static let count = Option(
        "count",
        .integer(in: 1...9),
        default: 2,
        environment: "POSTHORN_COUNT",
        help: "Lines."
    )

    private struct Unfit: ExitCoded {
        let exitCode = ExitCode.unavailable
        let description = "the broker is away"
        let hint: String? = "Is it running?"
    }

    private static func command(
        _ name: String,
        run: @escaping @Sendable (Invocation) throws -> ExitCode
    ) -> Command {
        Command(CommandSyntax(name, summary: "do it", groups: [OptionGroup("Options", count)]), run: run)
    }

    private static let commands = [
        command("lines") { invocation in
            for number in 1...invocation.values[count] { try invocation.output.line("line \(number)") }
            return .done
        },
        command("data") { _ in .data },
        command("fail") { _ in throw Failure(.noInput, "no such file", hint: "Give another.") },
        command("unfit") { _ in throw Unfit() },
        command("half") { invocation in
            try invocation.output.line("first")
            throw Unfit()
        },
        VersionCommand.command,
    ]

    private func run(_ line: [String], environment: [String: String] = [:]) throws -> Run {
        var outputs: [Int32] = [0, 0]
        var errors: [Int32] = [0, 0]
        try #require(unsafe pipe(&outputs) == 0 && pipe(&errors) == 0)
        let shell = Shell(
            commands: Self.commands,
            environment: environment,
            output: outputs[1],
            errors: errors[1]
        )
        let code = shell.run(line)
        close(outputs[1])
        close(errors[1])
        return Run(code: code, output: drain(outputs[0]), errors: drain(errors[0]))
    }

    private func drain(_ descriptor: Int32) -> String {
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe block.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress, $0.count)
            }
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += block[..<count]
        }
    }

    @Test func `a command writes to standard output and chooses the code`() throws {
        let lines = try run(["lines", "--count", "3"])
        #expect(lines.code == .done && lines.output == "line 1\nline 2\nline 3\n" && lines.errors == "")
        #expect(try run(["lines"], environment: ["POSTHORN_COUNT": "1"]).output == "line 1\n")
        #expect(try run(["data"]).code == .data)
    }

    @Test func `the version is told in words and in JSON`() throws {
        #expect(try run(["version"]).output == "posthorn \(Program.version)\n")
        #expect(try run(["--version"]).output == "posthorn \(Program.version)\n")
        #expect(try run(["version", "--json"]).output == "{\"version\":\"\(Program.version)\"}\n")
    }

    @Test func `a failure is told with its hint on standard error`() throws {
        let fail = try run(["fail"])
        #expect(fail.code == .noInput && fail.output == "")
        #expect(fail.errors == "posthorn: no such file\nGive another.\n")
        let unfit = try run(["unfit"])
        #expect(
            unfit.code == .unavailable && unfit.errors == "posthorn: the broker is away\nIs it running?\n"
        )
    }

    @Test func `what was written before a failure is not lost`() throws {
        #expect(try run(["half"]).output == "first\n")
    }

    @Test func `faults of the command line are 64, those of its surroundings 78`() throws {
        let usage = try run(["lines", "--cuont=3"])
        #expect(usage.code == .usage)
        #expect(
            usage.errors
                == "posthorn: --cuont: there is no such option; did you mean --count?\nTry 'posthorn lines --help'.\n"
        )
        let configuration = try run(["lines", "--count=0"], environment: ["POSTHORN_CONFIG": "/nonexistent"])
        #expect(configuration.code == .configuration)
        #expect(
            configuration.errors.hasPrefix(
                "posthorn: 2 faults:\n  --config, from POSTHORN_CONFIG: '/nonexistent' cannot be read"
            )
        )
        let unknown = try run(["lnies"])
        #expect(unknown.code == .usage)
        #expect(
            unknown.errors
                == "posthorn: 'lnies': there is no such command; did you mean lines?\nTry 'posthorn --help'.\n"
        )
    }

    @Test func `a doubtful variable is a warning`() throws {
        let run = try run(["lines"], environment: ["POSTHORN_CUONT": "1"])
        #expect(run.code == .done)
        #expect(
            run.errors
                == "posthorn: warning: POSTHORN_CUONT is in the environment, but no setting has that name\n"
        )
    }

    @Test func `help is output when asked for, and a complaint when not`() throws {
        let asked = try run(["--help"])
        #expect(asked.code == .done && asked.output.contains("Usage: posthorn COMMAND") && asked.errors == "")
        let forgotten = try run([])
        #expect(
            forgotten.code == .usage && forgotten.output == "" && forgotten.errors.contains("Usage: posthorn")
        )
        #expect(
            try run(["lines", "--help"], environment: ["COLUMNS": "100"]).output.contains(
                "[an integer from 1 to 9; default 2; POSTHORN_COUNT]"
            )
        )
    }

    @Test func `a table has aligned columns, and its cells steer no terminal`() {
        var table = Table(("ORIGIN", .left), ("COUNT", .right), ("NOTE", .left))
        table.add("https://a", "7")
        table.add("b\u{1b}[31m", "1234567", "x")
        #expect(
            table.rendered() == """
                ORIGIN         COUNT  NOTE
                https://a          7
                b\\u{1b}[31m  1234567  x

                """
        )
    }
}

/// The program itself, as a process.
struct ProgramTests {
    private func run(_ script: String) throws -> (status: ChildProcess.Status, output: String) {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/output"
        var command = ChildProcess.Command("bash", ["-c", script, "bash", BuiltProgram.path])
        command.output = .file(file)
        let status = try ChildProcess.run(command)
        let content = (try? FileContent.read(file, limit: 1 << 20)) ?? []
        return (status, String(decoding: content, as: UTF8.self))
    }

    @Test func `the program runs and ends with its code`() throws {
        let version = try run("\"$1\" version")
        #expect(version.status == .exited(0) && version.output == "posthorn \(Program.version)\n")
        #expect(try run("\"$1\" vresion").status == .exited(64))
    }

    @Test func `a reader that leaves is no failure`() throws {
        let run = try run("set -o pipefail; \"$1\" version --help | true")
        #expect(run.status == .exited(0) && run.output == "")
    }

    @Test func `a full disk is`() throws {
        let run = try run("\"$1\" version > /dev/full")
        #expect(run.status == .exited(74))
        #expect(run.output == "posthorn: cannot write to standard output: No space left on device\n")
    }

    @Test
    func `the commands are listed once each, and every option has a help and a place in the environment`() {
        let syntaxes = Command.all.map(\.syntax)
        #expect(Set(syntaxes.map(\.name)).count == syntaxes.count)
        for syntax in syntaxes {
            #expect(Set(syntax.options.map(\.name)).count == syntax.options.count, "\(syntax.name)")
            for option in syntax.options { #expect(!option.help.isEmpty, "\(syntax.name) --\(option.name)") }
        }
    }
}
