internal import Hosting
internal import JSON
internal import Registrar
internal import Sealing
internal import Settings

/// The command `posthorn keys reseal`.
enum KeysResealCommand {
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object.")

    static let command = Command(
        CommandSyntax(
            "keys",
            "reseal",
            summary: "seal all key chains anew under the active key",
            description: """
                Works in batches while workers run; give all of them the new key file first. Interrupted, it goes on where it \
                was when started again. Prints how many chains are under which key in the end, and exits with 65 if any could \
                not be moved: damaged, or under a key that the file does not have.
                """,
            groups: [OptionGroup("Options", json), KeyFileOptions.group, DatabaseOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var resealer = try ChainResealer(keys: KeyFile.read(values[KeyFileOptions.keyFile]))
        var connection = try DatabaseOptions.connect(values)
        var line = ProgressLine(environment: invocation.environment)
        let end = try resealer.run(on: &connection) { progress in
            line.show(progress.resealed, "chains re-sealed")
            return true
        }
        line.clear()
        let usage = try KeyUsage.all(from: &connection)
        try tell(end, usage, active: resealer.activeID, invocation)
        if !end.missingKeys.isEmpty {
            line.say("the key file has no key \(end.missingKeys.joined(separator: ", "))")
        }
        if end.damaged > 0 { line.say("\(end.damaged) chains do not open under the key that they name") }
        return end.damaged == 0 && end.missingKeys.isEmpty ? .done : .data
    }

    private static func tell(
        _ end: ChainResealer.Progress,
        _ usage: [KeyUsage],
        active: String,
        _ invocation: Invocation
    ) throws {
        if invocation.values[json] {
            try invocation.output.json { writer in
                writer.object { writer in
                    writer.member("active", active)
                    writer.member("resealed", end.resealed)
                    writer.member("damaged", end.damaged)
                    writer.name("chains")
                    writer.object { writer in
                        for key in usage {
                            writer.name(escaping: key.keyID)
                            writer.integer(key.chains)
                        }
                    }
                }
            }
            return
        }
        try invocation.output.line("\(Quantity.grouped(end.resealed)) chains moved to \(active)")
        var table = Table(("KEY", .left), ("CHAINS", .right), ("", .left))
        for key in usage {
            table.add(key.keyID, Quantity.grouped(key.chains), key.keyID == active ? "active" : "")
        }
        if !usage.isEmpty { try invocation.output.write(table.rendered()) }
    }
}
