internal import Glibc
internal import Hosting
internal import Settings

/// Between a command line and a command: selects, resolves, runs, and tells what went wrong.
///
/// Standard output carries what was asked for and nothing else; messages go to standard error.
struct Shell {
    private let commands: [Command]
    private let tree: CommandTree
    private let environment: [String: String]
    private let output: Output
    private let errors: Int32

    /// - Parameters:
    ///   - commands: What can be asked for.
    ///   - environment: All variables of the process.
    ///   - output: Descriptor of standard output.
    ///   - errors: Descriptor of standard error.
    init(
        commands: [Command],
        environment: [String: String],
        output: Int32 = STDOUT_FILENO,
        errors: Int32 = STDERR_FILENO
    ) {
        self.commands = commands
        tree = CommandTree(commands)
        self.environment = environment
        self.output = Output(output)
        self.errors = errors
    }

    /// Runs the command that the words behind the program's name mean.
    func run(_ line: [String]) -> ExitCode {
        var path: [String] = []
        do {
            switch try tree.select(line == ["--version"] ? ["version"] : line) {
            case .help(let path, let wasAsked):
                return try help(about: path, wasAsked: wasAsked)
            case .command(let index, let words):
                path = commands[index].syntax.path
                return try run(commands[index], words)
            }
        } catch {
            // What was written before the failure still belongs to the reader, if there is one.
            try? output.flush()
            return tell(Failure(error, command: path))
        }
    }

    private func run(_ command: Command, _ words: [String]) throws -> ExitCode {
        let values = try tree.resolve(command.syntax, words: words, environment: environment)
        if !command.syntax.options.contains(where: { $0.name == LoggingOptions.level.definition.name }) {
            for warning in values.warnings { say("warning: \(warning)") }
        }
        let code = try command.run(Invocation(values: values, output: output, environment: environment))
        try output.flush()
        return code
    }

    private func help(about path: [String], wasAsked: Bool) throws -> ExitCode {
        let target = wasAsked ? STDOUT_FILENO : errors
        let text = tree.help(
            about: path,
            width: Terminal.columns(target, environment: environment),
            isBold: Terminal.hasColours(target, environment: environment)
        )
        if wasAsked {
            try output.write(text)
            try output.flush()
            return .done
        }
        Diagnostics.write(text, to: errors)
        return .usage
    }

    private func tell(_ failure: Failure) -> ExitCode {
        if let message = failure.message { say(message) }
        if let hint = failure.hint { Diagnostics.write("\(hint)\n", to: errors) }
        return failure.code
    }

    private func say(_ message: String) {
        Diagnostics.write("posthorn: \(message)\n", to: errors)
    }
}

/// Messages for the person who called, on standard error.
enum Diagnostics {
    /// Writes as much as goes; there is nobody left to tell when it does not.
    ///
    /// The corresponding C function is `write`.
    static func write(_ text: String, to descriptor: Int32 = STDERR_FILENO) {
        try? Output.writeAll(Array(text.utf8), to: descriptor)
    }
}
