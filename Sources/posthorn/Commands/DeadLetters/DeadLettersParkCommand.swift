internal import DeadLetters
internal import Hosting
internal import Push
internal import Settings

/// The command `posthorn dead-letters park`.
enum DeadLettersParkCommand {
    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "park",
            summary: "set dead letters aside",
            description: """
                Notifications are moved to the parking topic, where they are kept for longer and can be looked at and replayed with \
                --parked. Trigger events hold plaintext, which is kept nowhere for longer: they are marked where they lie. \
                Without any filter all open letters are meant, which must be said by --everything.
                """,
            groups: [
                OptionGroup("Options", Self.everything, DeadLetterOptions.json),
                DeadLetterOptions.filterGroup, ReplayOptions.careGroup, DeadLetterOptions.stageGroup,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    /// For commands that set letters aside or give them up.
    static let everything = Option(
        flag: "everything",
        environment: .none,
        help: "Without any filter: all letters are meant."
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        try checkFilter(invocation.values)
        var call = try DeadLetterCall(invocation)
        let source = try call.source(canBeParked: false)
        let filter = try call.filter()
        return try ReplayView.run(.new(filter, ReplayRules(.park)), source, &call, invocation)
    }

    static func checkFilter(_ values: Values) throws {
        guard !DeadLetterOptions.isFiltered(values), !values[everything] else { return }
        throw Failure(.usage, "no filter is given; say --everything if all letters are meant")
    }
}
