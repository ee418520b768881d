internal import Hosting
internal import JSON
internal import Settings

/// The command `posthorn version`.
enum VersionCommand {
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object.")

    static let command = Command(
        CommandSyntax(
            "version",
            summary: "print the version of the program",
            groups: [OptionGroup("Options", json)]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        if invocation.values[json] {
            try invocation.output.json { writer in
                writer.object { $0.member("version", Program.version) }
            }
        } else {
            try invocation.output.line("posthorn \(Program.version)")
        }
        return .done
    }
}
