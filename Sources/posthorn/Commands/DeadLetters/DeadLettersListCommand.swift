internal import DeadLetters
internal import Hosting
internal import JSON
internal import Push
internal import Settings

/// The command `posthorn dead-letters list`.
enum DeadLettersListCommand {
    static let limit = Option(
        "limit",
        .integer(in: 1...10_000, unit: "letters"),
        default: 50,
        environment: .none,
        help: "The most letters to list."
    )

    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "list",
            summary: "list dead letters, newest first",
            description: """
                Lists open letters: those that were not replayed, parked or purged. Pushkeys are masked, users are digests, and \
                no content is shown.
                """,
            groups: [
                OptionGroup("Options", limit, DeadLetterOptions.all, DeadLetterOptions.json),
                DeadLetterOptions.filterGroup, DeadLetterOptions.whereGroup,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        var call = try DeadLetterCall(invocation)
        let filter = try call.filter()
        let includesAll = invocation.values[DeadLetterOptions.all]
        let limit = invocation.values[limit]
        var found: [(letter: Letter, state: Disposition?)] = []
        let sources = try call.sources()
        for source in sources {
            let (bounds, book) = try call.desk.look(at: source, in: &call.connection)
            call.warn(book)
            let choice = LetterChoice(
                filter,
                book,
                includesDealtWith: includesAll,
                includesPurged: includesAll
            )
            var scan = try call.desk.scan(source, in: &call.connection)
            let letters = try scan.newest(limit, in: bounds.narrowed(by: filter), choice, now: call.now)
            found += letters.map { ($0, choice.state(of: $0.facts)) }
        }
        found.sort { $0.letter.facts.failedAt > $1.letter.facts.failedAt }
        found = Array(found.prefix(limit))
        if invocation.values[DeadLetterOptions.json] {
            for (letter, state) in found {
                try invocation.output.json { writer in writer.object { $0.writeMembers(letter, state) } }
            }
        } else {
            try show(found, of: sources.count, includesAll, invocation.output)
        }
        return .done
    }

    private static func show(
        _ found: [(letter: Letter, state: Disposition?)],
        of topics: Int,
        _ includesAll: Bool,
        _ output: Output
    ) throws {
        var table = Table(
            ("FAILED", .left),
            ("STAGE", .left),
            ("PLACE", .right),
            ("REASON", .left),
            ("TRIED", .right),
            ("REPLAYED", .right),
            ("GATEWAY", .left),
            ("APP", .left),
            ("USER", .left),
            ("EVENT", .left),
            ("PUSHKEY", .left),
            (includesAll ? "STATE" : "", .left)
        )
        for (letter, state) in found {
            let facts = letter.facts
            table.add(
                facts.failedAt.rfc3339,
                facts.stage.rawValue,
                letter.place,
                facts.reason?.rawValue ?? LetterStatistics.unknown,
                "\(facts.history.attempts)",
                "\(facts.history.replayCount)",
                facts.gateway ?? "",
                facts.app ?? "",
                facts.user ?? "",
                TextRules.prefix(facts.event ?? "", bytes: 40),
                letter.maskedPushkey ?? "",
                includesAll ? state?.rawValue ?? "open" : ""
            )
        }
        try output.write(table.rendered())
    }
}
