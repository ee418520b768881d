internal import Hosting
internal import JSON
internal import Schema
internal import Settings

/// The command `posthorn migrate`.
enum MigrateCommand {
    static let status = Option(
        flag: "status",
        environment: .none,
        help: "Only tell what is applied and what is missing; change nothing."
    )
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object.")

    static let command = Command(
        CommandSyntax(
            "migrate",
            summary: "bring the database's schema up to date",
            description: """
                Applies what is missing, each step in a transaction of its own and recorded with its checksum. Several at \
                once take turns. A step that was applied and has been edited since is refused with exit code 78.
                """,
            groups: [OptionGroup("Options", status, json), DatabaseOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        var connection = try DatabaseOptions.connect(invocation.values)
        let migrator = Migrator()
        if invocation.values[status] {
            let status = try migrator.status(of: &connection)
            try tell(status.applied, pending: status.pending, "is applied", invocation)
        } else {
            let applied = try migrator.apply(to: &connection)
            if applied.isEmpty, !invocation.values[json] {
                try invocation.output.line("the schema is up to date")
            } else {
                try tell(applied, pending: [], "applied", invocation)
            }
        }
        return .done
    }

    private static func tell(
        _ applied: [Migration],
        pending: [Migration],
        _ word: String,
        _ invocation: Invocation
    ) throws {
        if invocation.values[json] {
            try invocation.output.json { writer in
                writer.object { writer in
                    writer.name("applied")
                    writer.array { writer in for migration in applied { writer.string(migration.fileName) } }
                    writer.name("pending")
                    writer.array { writer in for migration in pending { writer.string(migration.fileName) } }
                }
            }
            return
        }
        for migration in applied { try invocation.output.line("\(migration.fileName) \(word)") }
        for migration in pending { try invocation.output.line("\(migration.fileName) is missing") }
    }
}
