internal import Hosting
internal import JSON
internal import Postgres
internal import Registrar
internal import Settings

/// The commands `posthorn rejections apply` and `posthorn rejections discard`, which differ in what they do with what was held.
enum RejectionsDecideCommand {
    static let all = Option(
        flag: "all",
        environment: .none,
        help: "All that are held, where no gateway, app or time is given."
    )
    static let dryRun = Option(
        flag: "dry-run",
        environment: .none,
        help: "Only tell how many would be affected."
    )
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object.")

    static let apply = command(
        "apply",
        summary: "delete the pushers of held rejections, with their keys",
        description: """
            For rejections that were right: so many devices are gone. Those that registered anew since stay. What is applied counts as usual for its \
            gateway and app from then on, so that a like share is not held again. It cannot be taken back; see --dry-run.
            """
    ) { filter, who, connection, environment throws(RegistrarError) in
        var progress = ProgressLine(environment: environment)
        defer { progress.clear() }
        return try HeldRejections.apply(filter, by: who, on: &connection) { progress.show($0, "pushers") }
    }

    static let discard = command(
        "discard",
        summary: "keep the pushers of held rejections and forget the rejections",
        description: """
            For rejections that were wrong: a credential, a topic or a flag at the gateway was. Mend that first, else the next messages are \
            rejected, and held, again.
            """
    ) { filter, who, connection, _ throws(RegistrarError) in
        try HeldRejections.discard(filter, by: who, on: &connection)
    }

    private typealias Decision =
        @Sendable (
            RejectionFilter, String, inout Connection, [String: String]
        ) throws(RegistrarError) -> Int64

    private static func command(
        _ word: String,
        summary: String,
        description: String,
        _ decide: @escaping Decision
    ) -> Command {
        Command(
            CommandSyntax(
                "rejections",
                word,
                summary: summary,
                description: description,
                groups: [
                    OptionGroup(
                        "Options",
                        RejectionOptions.gateway,
                        RejectionOptions.app,
                        RejectionOptions.since,
                        all,
                        dryRun,
                        OperatorOptions.name,
                        json
                    ), DatabaseOptions.group,
                ]
            )
        ) { invocation in
            try run(invocation, word, decide)
        }
    }

    private static func run(_ invocation: Invocation, _ word: String, _ decide: Decision) throws -> ExitCode {
        let values = invocation.values
        let filter = RejectionOptions.filter(values)
        guard filter != RejectionFilter() || values[all] else {
            throw Failure(.usage, "say which: --gateway, --app, --since, or --all")
        }
        let who = try OperatorOptions.name(values)
        var connection = try DatabaseOptions.connect(values)
        if values[dryRun] {
            try tell(HeldRejections.groups(filter, in: &connection), invocation)
            return .done
        }
        let count = try decide(filter, who, &connection, invocation.environment)
        let past: StaticString = word == "apply" ? "removed" : "kept"
        if values[json] {
            try invocation.output.json { writer in
                writer.object { writer in
                    writer.member(past, count)
                    writer.member("operator", who)
                }
            }
        } else {
            try invocation.output.line("\(Quantity.grouped(count)) \(past)")
        }
        return .done
    }

    private static func tell(_ groups: [HeldRejections.Group], _ invocation: Invocation) throws {
        let total = groups.reduce(0) { $0 + $1.count }
        guard !invocation.values[json] else {
            try invocation.output.json { writer in
                writer.object { writer in
                    writer.member("held", total)
                    writer.name("groups")
                    writer.array { writer in
                        for group in groups { RejectionTable.write(group, to: &writer) }
                    }
                }
            }
            return
        }
        if !groups.isEmpty { try invocation.output.write(RejectionTable.groups(groups)) }
        try invocation.output.line("\(Quantity.grouped(total)) in all; nothing was changed")
    }
}
