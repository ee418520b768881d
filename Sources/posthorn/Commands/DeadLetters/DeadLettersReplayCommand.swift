internal import DeadLetters
internal import Hosting
internal import Push
internal import Settings

/// The command `posthorn dead-letters replay`.
enum DeadLettersReplayCommand {
    static let dryRun = Option(
        flag: "dry-run",
        environment: .none,
        help: "Tell what would be done, and write nothing anywhere."
    )
    static let resume = Option(
        optional: "resume",
        .replayID,
        environment: .none,
        help: "Go on with a replay that was stopped or killed, by its own filter, rules and bounds."
    )
    static let limit = Option(
        optional: "limit",
        .integer(in: 1...Int(Int32.max), unit: "letters"),
        otherwise: "all",
        environment: .none,
        help: "The most letters to send, in all."
    )
    static let maximumReplays = Option(
        "max-replays",
        .integer(in: 0...1000),
        default: ReplayRules.defaultMaximumReplays,
        environment: .none,
        help: "A letter that was replayed as often is parked and not sent again."
    )
    static let forceExpired = Option(
        flag: "force-expired",
        environment: .none,
        help: "Also send letters whose time is over, with a new expiry; written down."
    )
    static let forcedLifetime = Option(
        "forced-lifetime",
        .duration(in: .seconds(60) ... .seconds(7 * 86_400)),
        default: .seconds(12 * 3600),
        environment: .none,
        help: "How long a forced letter makes sense, from now on."
    )

    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "replay",
            summary: "send dead letters again",
            description: """
                Notifications go to the notifications topic again, trigger events to the triggers topic, where they are sealed anew \
                under today's keys. What lies in the topic when the replay begins is looked at, and nothing that comes later. \
                Each letter is sent in one transaction with the replay's progress: one that is killed goes on with --resume, \
                with nothing left out and nothing sent twice.

                Refused is what has expired, whose pusher is gone, what the device could not open any more, and what is still at \
                fault; see docs/dead-letters.md. Refused letters stay as they are: park or purge them.

                Exit codes: 0 done; 64 usage; 65 done, but letters were refused; 69 broker or database did not answer, and nothing was \
                begun; 75 stopped half way, go on with --resume; 77 somebody else works on the topic. A dry run ends with 0.
                """,
            groups: [
                OptionGroup(
                    "Options",
                    dryRun,
                    resume,
                    limit,
                    maximumReplays,
                    forceExpired,
                    forcedLifetime,
                    DeadLetterOptions.json
                ),
                DeadLetterOptions.filterGroup, ReplayOptions.careGroup, DeadLetterOptions.whereGroup,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        try check(values)
        var call = try DeadLetterCall(invocation)
        let source = try call.source()
        let filter = try call.filter()
        let rules = ReplayRules(
            maximumReplays: values[maximumReplays],
            forcesExpired: values[forceExpired],
            forcedLifetime: values[forcedLifetime],
            limit: values[limit]
        )
        if values[dryRun] { return try tryOut(filter, rules, source, &call, invocation) }
        let request: ReplayRequest = values[resume].map { .resume($0) } ?? .new(filter, rules)
        return try ReplayView.run(request, source, &call, invocation)
    }

    /// A replay that goes on does so by what it was told when it began.
    private static func check(_ values: Values) throws {
        guard values[resume] != nil else { return }
        let isChanged =
            DeadLetterOptions.isFiltered(values) || values.isGiven(limit) || values.isGiven(maximumReplays)
            || values.isGiven(forceExpired) || values.isGiven(forcedLifetime) || values[dryRun]
        guard isChanged else { return }
        throw SettingsError([
            values.fault(resume, "goes on with the replay's own filter and rules; no others can be given")
        ])
    }

    private static func tryOut(
        _ filter: DeadLetterFilter,
        _ rules: ReplayRules,
        _ source: LetterSource,
        _ call: inout DeadLetterCall,
        _ invocation: Invocation
    ) throws -> ExitCode {
        var progress = ProgressLine(environment: invocation.environment)
        let run = try call.desk.dryRun(filter, rules, from: source, now: call.now, in: &call.connection) {
            progress.show(Int64($0), "letters judged")
        }
        progress.clear()
        if invocation.values[DeadLetterOptions.json] {
            try invocation.output.json { ReplayView.write(run, source, to: &$0) }
        } else {
            try ReplayView.show(run, source, invocation.output)
        }
        return .done
    }
}
