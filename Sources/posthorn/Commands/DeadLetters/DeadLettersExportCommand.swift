internal import DeadLetters
internal import Hosting
internal import JSON
internal import Push
internal import Settings

/// The command `posthorn dead-letters export`.
enum DeadLettersExportCommand {
    static let redacted = Option(
        flag: "redacted",
        environment: .none,
        help:
            "Leave out content, keys and whatever is not known, and name users by digest: for tickets, not for import."
    )
    static let plaintext = Option(
        flag: "plaintext",
        environment: .none,
        help: "Trigger events hold plaintext; this says that it may leave the topic."
    )

    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "export",
            summary: "write dead letters as lines of JSON",
            description: """
                One letter a line: key and value in Base64, headers, timestamp. Lines name users and pushkeys unless --redacted is \
                given; handle them as such. That letters were exported, and how, is written down.
                """,
            groups: [
                OptionGroup("Options", redacted, plaintext, DeadLetterOptions.all),
                DeadLetterOptions.filterGroup, DeadLetterOptions.whereGroup,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var call = try DeadLetterCall(invocation)
        let source = try call.source()
        if source.holdsPlaintext, !values[redacted], !values[plaintext] {
            throw Failure(
                .usage,
                "trigger dead letters hold plaintext",
                hint: "Say --plaintext or --redacted."
            )
        }
        let filter = try call.filter()
        let (bounds, book) = try call.desk.look(at: source, in: &call.connection)
        call.warn(book)
        var scan = try call.desk.scan(source, in: &call.connection)
        var progress = ProgressLine(environment: invocation.environment)
        var count = 0
        let choice = LetterChoice(
            filter,
            book,
            includesDealtWith: values[DeadLetterOptions.all],
            includesPurged: values[DeadLetterOptions.all]
        )
        try scan.begin(bounds.narrowed(by: filter))
        while let letters = try scan.next(now: call.now) {
            for letter in letters where choice.takes(letter.facts) {
                try invocation.output.json {
                    TransferLine.write(letter, isRedacted: values[redacted], to: &$0)
                }
                count += 1
            }
            progress.show(Int64(count), "letters")
        }
        try invocation.output.flush()
        progress.clear()
        try call.desk.note(.export, on: source.topic, filter: filter, in: &call.connection) { writer in
            writer.member("letters", count)
            writer.member("redacted", values[redacted])
        }
        Diagnostics.write("posthorn: \(Quantity.grouped(Int64(count))) letters written\n")
        return .done
    }
}
