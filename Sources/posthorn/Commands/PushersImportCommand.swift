internal import Hosting
internal import JSON
internal import Push
internal import Registrar
internal import Sealing
internal import Settings

/// The command `posthorn pushers import`.
enum PushersImportCommand {
    static let encryption = Option<RegistrationRules.EncryptionRule>(
        "encryption",
        .choice(),
        default: .optional,
        help: "Whether pushers must, may or must not register keys, which is the service's decision."
    )
    static let json = Option(flag: "json", environment: .none, help: "Print the summary as one JSON object.")

    static let command = Command(
        CommandSyntax(
            "pushers",
            "import",
            summary: "register pushers from lines of JSON",
            description: """
                A line is {"user":"…","pusher":{…},"channels":{"ID":"enabled"}}, where pusher is the body of POST /pushers/set: \
                kind null removes, and without append the pushers of other users with the same app_id and pushkey are \
                removed. Registering again replaces keys and channels.

                A bad line is told by number and field, and the others go in; the exit code is 65 then. Lines go in by \
                batches of 2,000, each as one transaction, which stay in whatever comes after; the same file may be imported \
                again.
                """,
            arguments: [InputLines.file],
            groups: [
                OptionGroup("Options", InputLines.strict, encryption, json), MonthOptions.group,
                KeyFileOptions.group, DatabaseOptions.group,
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var lines = try InputLines(invocation, things: "lines")
        let keys = try KeyFile.read(values[KeyFileOptions.keyFile])
        var connection = try DatabaseOptions.connect(values)
        let check = try RegistrationCheck(
            from: &connection,
            zone: values[MonthOptions.zone],
            encryption: values[encryption]
        )
        var work = try PusherImport(check: check, keys: keys)
        let start = ContinuousClock.now
        try lines.each { line, _ in
            do {
                try work.append(line)
            } catch let error as RegistrationError {
                return error.description
            }
            if work.isFull { try work.flush(to: &connection) }
            return nil
        }
        try work.flush(to: &connection)
        lines.progress.clear()
        try summarise(work.tally, bad: lines.bad, .now - start, invocation)
        return lines.bad == 0 ? .done : .data
    }

    private static func summarise(
        _ tally: ImportTally,
        bad: Int,
        _ duration: Duration,
        _ invocation: Invocation
    ) throws {
        let rate = Quantity.rate(Int64(tally.written), in: duration) ?? 0
        if invocation.values[json] {
            try invocation.output.json { writer in
                writer.object { writer in
                    writer.member("registered", tally.written)
                    writer.member("removed", tally.removed)
                    writer.member("displaced", tally.displaced)
                    writer.member("bad", bad)
                    writer.member("seconds", Quantity.seconds(duration))
                    writer.member("rate", rate)
                }
            }
            return
        }
        try invocation.output.line(
            """
            \(Quantity.grouped(Int64(tally.written))) registered, \(tally.removed) removed, \
            \(tally.displaced) of other users displaced, \(bad) bad lines; \
            \(Quantity.seconds(duration)) s, \(Quantity.grouped(rate)) a second
            """
        )
    }
}
