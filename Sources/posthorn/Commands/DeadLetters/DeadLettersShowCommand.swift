internal import DeadLetters
internal import Hosting
internal import JSON
internal import Kafka
internal import Push
internal import Settings

/// The command `posthorn dead-letters show`.
enum DeadLettersShowCommand {
    static let place = Argument(
        required: "PARTITION:OFFSET",
        .place,
        help: "Where the letter lies, as the list shows it."
    )

    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "show",
            summary: "show one dead letter, and what a replay would do with it",
            description: """
                Explains its headers. The content is never shown, and of headers that are not known only how long they are. The \
                exit code is 65 if there is no such letter.
                """,
            arguments: [place],
            groups: [
                OptionGroup(
                    "Options",
                    DeadLettersReplayCommand.maximumReplays,
                    DeadLettersReplayCommand.forceExpired,
                    DeadLetterOptions.json
                ),
                DeadLetterOptions.whereGroup,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var call = try DeadLetterCall(invocation)
        let source = try call.source()
        let place = values[place]
        let (bounds, book) = try call.desk.look(at: source, in: &call.connection)
        call.warn(book)
        guard let letter = try find(place, source, bounds, &call) else {
            throw Failure(.data, "\(source.topic) has no letter at \(place.partition):\(place.offset)")
        }
        let state = book.disposition(partition: place.partition, offset: place.offset)
        let rules = ReplayRules(
            maximumReplays: values[DeadLettersReplayCommand.maximumReplays],
            forcesExpired: values[DeadLettersReplayCommand.forceExpired]
        )
        let now = call.now
        let verdict = try call.desk.verdict(
            on: letter,
            rules,
            from: source,
            now: now,
            in: &call.connection
        )
        if values[DeadLetterOptions.json] {
            try invocation.output.json { write(letter, state, verdict, to: &$0) }
        } else {
            try show(letter, state, verdict, source, invocation.output)
        }
        return .done
    }

    private static func find(
        _ place: LetterPlace,
        _ source: LetterSource,
        _ bounds: TopicBounds,
        _ call: inout DeadLetterCall
    ) throws -> Letter? {
        guard let range = bounds.ranges[place.partition], range.contains(place.offset) else { return nil }
        var scan = try call.desk.scan(source, in: &call.connection)
        let wanted = TopicBounds(
            topic: source.topic,
            ranges: [place.partition: place.offset..<place.offset + 1]
        )
        try scan.begin(wanted)
        return try scan.next(now: call.now)?.first
    }

    private static func write(
        _ letter: Letter,
        _ state: Disposition?,
        _ verdict: Verdict,
        to writer: inout Writer
    ) {
        writer.object { writer in
            writer.writeMembers(letter, state)
            writer.name("on_replay")
            writer.write(verdict)
            writer.name("headers")
            writer.array { writer in
                for header in letter.record.headers {
                    writer.object { writer in
                        writer.member("name", header.name)
                        writer.optional("value", shownValue(of: header, letter))
                        writer.member("bytes", header.value?.count ?? 0)
                        writer.optional("meaning", HeaderMeaning.text(of: header.name))
                    }
                }
            }
        }
    }

    private static func show(
        _ letter: Letter,
        _ state: Disposition?,
        _ verdict: Verdict,
        _ source: LetterSource,
        _ output: Output
    ) throws {
        try output.line("\(letter.record.topic) \(letter.place), \(state?.rawValue ?? "open")")
        try output.line("")
        var headers = Table(("HEADER", .left), ("VALUE", .left), ("MEANING", .left))
        for header in letter.record.headers {
            headers.add(
                header.name,
                shownValue(of: header, letter) ?? "\(header.value?.count ?? 0) bytes, not shown",
                HeaderMeaning.text(of: header.name) ?? "not one of ours"
            )
        }
        try output.write(headers.rendered())
        let content = source.holdsPlaintext ? "plaintext" : "message"
        try output.line("\nThe \(content) has \(letter.record.valueCount ?? 0) bytes and is not shown.")
        if let pushkey = letter.maskedPushkey { try output.line("It is for pushkey \(pushkey).") }
        try output.line("\nOn a replay: \(sentence(verdict, source))")
    }

    private static func sentence(_ verdict: Verdict, _ source: LetterSource) -> String {
        switch verdict {
        case .replay(isForced: false): "it is sent to \(source.target) again."
        case .replay(isForced: true):
            "its time is over; forced, it is sent to \(source.target) with a new expiry."
        case .park:
            "it has been replayed as often as allowed and is parked"
                + (source.parking.map { " in \($0)." } ?? " where it lies.")
        case .refuse(let refusal): "refused, \(refusal.cause.rawValue): \(refusal.detail). It stays open."
        }
    }

    /// Nil for what is not to be shown.
    private static func shownValue(of header: Header, _ letter: Letter) -> String? {
        guard HeaderMeaning.text(of: header.name) != nil, let value = header.value,
            value.count <= GatewayURL.maximumLength + 64, TextRules.isClean(value.span)
        else { return nil }
        if HeaderMeaning.namesUser(header.name) { return letter.facts.user }
        return String(decoding: value, as: UTF8.self)
    }
}
