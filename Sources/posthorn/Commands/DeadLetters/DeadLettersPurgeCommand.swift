internal import DeadLetters
internal import Glibc
internal import Hosting
internal import JSON
internal import Push
internal import Settings

/// The command `posthorn dead-letters purge`.
enum DeadLettersPurgeCommand {
    static let yes = Option(
        flag: "yes",
        short: "y",
        environment: .none,
        help: "Do it without being asked."
    )

    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "purge",
            summary: "give dead letters up for good",
            description: """
                Kafka can delete the beginning of a partition and nothing else. Where all that a partition begins with is meant it is \
                deleted; what lies behind a letter that stays is marked, appears no more, and goes with the topic's retention. Both \
                are told. Tells how many letters there are and asks for that number to be typed, unless --yes is given; letters that come \
                while it waits stay. Without a terminal nobody can be asked, and --yes must be given.

                Without any filter all letters are meant, which must be said by --everything.

                Exit codes: 0 done; 64 usage; 69, 78 the broker refused to delete, the letters are marked; 75 not confirmed, nothing \
                was purged; 77 somebody else works on the topic.
                """,
            groups: [
                OptionGroup(
                    "Options",
                    yes,
                    DeadLettersParkCommand.everything,
                    DeadLetterOptions.all,
                    DeadLetterOptions.json
                ),
                DeadLetterOptions.filterGroup, DeadLetterOptions.whereGroup,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        try DeadLettersParkCommand.checkFilter(values)
        var call = try DeadLetterCall(invocation)
        let source = try call.source()
        let filter = try call.filter()
        var confirmed: TopicBounds?
        if !values[yes] {
            confirmed = try confirmedBounds(filter, source, &call, values)
            if confirmed == nil { return .temporary }
        }
        let report = try call.desk.purge(
            filter,
            includesDealtWith: values[DeadLetterOptions.all],
            within: confirmed,
            from: source,
            now: call.now,
            in: &call.connection
        )
        if values[DeadLetterOptions.json] {
            try invocation.output.json { write(report, source, to: &$0) }
        } else {
            try show(report, source, invocation.output)
        }
        return report.refusal?.exitCode ?? .done
    }

    /// Asks for the number to be typed, which nobody does by habit.
    ///
    /// - Returns: between which bounds the letters were counted; nil if anything else was typed, or nothing.
    private static func confirmedBounds(
        _ filter: DeadLetterFilter,
        _ source: LetterSource,
        _ call: inout DeadLetterCall,
        _ values: Values
    ) throws -> TopicBounds? {
        guard Terminal.isTerminal(STDIN_FILENO) else {
            throw Failure(.usage, "nobody is there to confirm a purge", hint: "Say --yes.")
        }
        let (bounds, book) = try call.desk.look(at: source, in: &call.connection)
        call.warn(book)
        var scan = try call.desk.scan(source, in: &call.connection)
        var count = 0
        let choice = LetterChoice(filter, book, includesDealtWith: values[DeadLetterOptions.all])
        try scan.begin(bounds.narrowed(by: filter))
        while let letters = try scan.next(now: call.now) {
            count += letters.count { choice.takes($0.facts) }
        }
        if count == 0 { return bounds }
        Diagnostics.write(
            "\(count) letters of \(source.topic) are given up for good. Type \(count) to do so: "
        )
        // Nil when the terminal was closed; a terminal's line is short.
        if readLine() == "\(count)" { return bounds }
        Diagnostics.write("posthorn: nothing was purged\n")
        return nil
    }

    private static func write(_ report: PurgeReport, _ source: LetterSource, to writer: inout Writer) {
        writer.object { writer in
            writer.member("topic", source.topic)
            writer.member("matched", report.matched)
            writer.member("deleted", report.deleted)
            writer.member("marked", report.marked)
            writer.optional("refusal", report.refusal.map { "\($0)" })
        }
    }

    private static func show(_ report: PurgeReport, _ source: LetterSource, _ output: Output) throws {
        func text(_ count: Int) -> String { Quantity.grouped(Int64(count)) }
        try output.line(
            "\(text(report.matched)) letters of \(source.topic) purged: \(text(report.deleted)) deleted, \(text(report.marked)) marked"
        )
        if report.marked > 0 {
            try output.line("marked letters lie behind others that stay, and go with the topic's retention")
        }
        if let refusal = report.refusal { try output.line("nothing could be deleted: \(refusal)") }
    }
}
