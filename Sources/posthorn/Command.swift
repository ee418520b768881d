internal import Hosting
internal import Settings

/// A command of the program: what it is called and takes, and what it does.
///
/// Each one has a file of its own in `Commands/`, which parses nothing by hand and holds no logic: it reads its values, makes what
/// the modules below need, and calls them. To add one: write the file after the model of ``VersionCommand``, and add a line to ``all``.
struct Command: Sendable {
    let syntax: CommandSyntax
    /// Runs it; what it throws becomes a message on standard error and an exit code (``Failure/init(_:)``).
    let run: @Sendable (Invocation) throws -> ExitCode

    init(_ syntax: CommandSyntax, run: @escaping @Sendable (Invocation) throws -> ExitCode) {
        self.syntax = syntax
        self.run = run
    }
}

/// What a command gets to work with.
struct Invocation {
    /// What was given, by the command's own declarations: `values[VersionCommand.json]`.
    let values: Values
    let output: Output
    let environment: [String: String]
}
