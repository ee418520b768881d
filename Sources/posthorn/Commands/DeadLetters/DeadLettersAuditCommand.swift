internal import DeadLetters
internal import Hosting
internal import JSON
internal import Push
internal import Settings

/// The command `posthorn dead-letters audit`.
enum DeadLettersAuditCommand {
    static let limit = Option(
        "limit",
        .integer(in: 1...100_000, unit: "entries"),
        default: 50,
        environment: .none,
        help: "The most entries to print."
    )

    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "audit",
            summary: "tell what was done with dead letters, and by whom",
            description: "Newest first. Entries are only ever added; users appear in them as digests.",
            groups: [
                OptionGroup("Options", limit, DeadLetterOptions.since, DeadLetterOptions.json),
                DeadLetterOptions.whereGroup,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var call = try DeadLetterCall(invocation)
        let isOneTopic = values.isGiven(DeadLetterOptions.stage) || values[DeadLetterOptions.parked]
        let topic = isOneTopic ? try call.source().topic : nil
        let entries = try AuditBook.newest(
            values[limit],
            topic: topic,
            since: values[DeadLetterOptions.since]?.timestamp(now: call.now),
            from: &call.connection
        )
        if values[DeadLetterOptions.json] {
            for entry in entries { try invocation.output.json { write(entry, to: &$0) } }
            return .done
        }
        var table = Table(
            ("AT", .left),
            ("OPERATOR", .left),
            ("ACTION", .left),
            ("TOPIC", .left),
            ("REPLAY", .left),
            ("FILTER", .left),
            ("OUTCOME", .left)
        )
        for entry in entries {
            table.add(
                entry.at.rfc3339,
                entry.operator,
                entry.action,
                entry.topic,
                entry.replay ?? "",
                entry.filter,
                entry.outcome
            )
        }
        try invocation.output.write(table.rendered())
        return .done
    }

    private static func write(_ entry: AuditBook.Entry, to writer: inout Writer) {
        writer.object { writer in
            writer.member("at", entry.at.rfc3339)
            writer.member("operator", entry.operator)
            writer.member("action", entry.action)
            writer.member("topic", entry.topic)
            writer.optional("replay", entry.replay)
            writer.member("filter", raw: Array(entry.filter.utf8))
            writer.member("outcome", raw: Array(entry.outcome.utf8))
        }
    }
}
