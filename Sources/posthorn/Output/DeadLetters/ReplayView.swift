internal import DeadLetters
internal import Hosting
internal import JSON
internal import Push
internal import Settings

/// Runs a replay for a person or a script: progress while it lasts, its report at the end, an exit code.
enum ReplayView {
    static func run(
        _ request: ReplayRequest,
        _ source: LetterSource,
        _ call: inout DeadLetterCall,
        _ invocation: Invocation
    ) throws -> ExitCode {
        let signals = try TerminationSignals()
        tellUnfinished(request, source, &call)
        var progress = ProgressLine(environment: invocation.environment)
        var whole: Int64?
        let start = ContinuousClock.now
        let report = try call.desk.replay(
            request,
            from: source,
            ReplayOptions.settings(invocation.values),
            stop: StopSign(descriptor: signals.descriptor),
            in: &call.connection
        ) { step in
            let all = whole ?? step.remaining + Int64(step.tally.matched)
            whole = all
            let handled = step.tally.replayed + step.tally.parked
            progress.show(Int64(handled), "letters", part: (all - step.remaining, all))
        }
        progress.clear()
        if invocation.values[DeadLetterOptions.json] {
            try invocation.output.json { write(report, .now - start, to: &$0) }
        } else {
            try show(report, source, .now - start, invocation.output)
        }
        return code(of: report)
    }

    /// Somebody who begins anew should know that something was left half done.
    private static func tellUnfinished(
        _ request: ReplayRequest,
        _ source: LetterSource,
        _ call: inout DeadLetterCall
    ) {
        guard case .new = request,
            let unfinished = try? ReplayBook.unfinished(source.topic, in: &call.connection),
            let isHeld = try? TopicLock.isHeld(source.topic, in: &call.connection)
        else { return }
        // One that was killed never said that it stopped.
        for replay in unfinished where replay.state == .stopped || !isHeld {
            Diagnostics.write(
                """
                posthorn: replay \(replay.id), begun by \(replay.operator) at \(replay.startedAt), is not done; go on with it by \
                --resume. What it has sent is not sent again by this one.\n
                """
            )
        }
    }

    private static func code(of report: ReplayReport) -> ExitCode {
        switch report.end {
        case .finished, .limitReached: report.tally.refused == 0 ? .done : .data
        case .interrupted, .returned, .lagging: .temporary
        // It is half done, whoever did not answer; what no waiting will mend has a code of its own.
        case .failed(let error): error.exitCode == .unavailable ? .temporary : error.exitCode
        }
    }

    // MARK: - Replays

    private static func write(_ report: ReplayReport, _ duration: Duration, to writer: inout Writer) {
        writer.object { writer in
            writer.member("replay", report.id.description)
            writer.member("topic", report.topic)
            writer.member("end", report.end.word)
            if case .failed(let error) = report.end { writer.member("error", error.description) }
            writer.member("done", report.end.isDone)
            report.tally.writeMembers(to: &writer)
            writer.member("offsets_left", report.remaining)
            writer.member("noted", report.isNoted)
            writer.member("seconds", Quantity.seconds(duration))
        }
    }

    private static func show(
        _ report: ReplayReport,
        _ source: LetterSource,
        _ duration: Duration,
        _ output: Output
    ) throws {
        let tally = report.tally
        let handled = Int64(tally.replayed + tally.parked)
        let forced = tally.forced > 0 ? " (\(tally.forced) of them forced)" : ""
        try output.line(
            """
            replay \(report.id) of \(report.topic): \(Quantity.grouped(Int64(tally.replayed))) replayed\(forced), \
            \(Quantity.grouped(Int64(tally.parked))) parked, \(Quantity.grouped(Int64(tally.refused))) refused; \
            \(Quantity.seconds(duration)) s, \(Quantity.grouped(Quantity.rate(handled, in: duration) ?? 0)) a second
            """
        )
        if tally.refused > 0 {
            let causes = tally.refusals.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { "\($0.key.rawValue) \(Quantity.grouped(Int64($0.value)))" }
            try output.line("refused: \(causes.joined(separator: ", "))")
            try output.line(
                "refused letters stay open in \(report.topic) until they are replayed, parked or purged"
            )
        }
        if tally.parked > 0 { try output.line(parkedWhere(source)) }
        if let stopped = reason(report.end) {
            try output.line(
                "stopped: \(stopped); go on with 'posthorn dead-letters replay --resume \(report.id)\(option(for: source))'"
            )
        }
        if !report.isNoted {
            try output.line(
                "that it ended could not be written down; the lock of \(report.topic) ends by itself within a minute"
            )
        }
    }

    /// What a command needs to be given to be about this topic.
    private static func option(for source: LetterSource) -> String {
        switch source.kind {
        case .dispatch: ""
        case .encrypt: " --stage encrypt"
        case .parking: " --parked"
        }
    }

    private static func parkedWhere(_ source: LetterSource) -> String {
        if let parking = source.parking { return "parked letters are in \(parking); see them with --parked" }
        return
            "parked letters stay in \(source.topic), marked, until its retention takes them; see them with --all"
    }

    private static func reason(_ end: ReplayEnd) -> String? {
        switch end {
        case .finished, .limitReached: nil
        case .interrupted: "interrupted"
        case .returned(let count): "\(count) of its letters are dead letters again"
        case .lagging(let excess): "the live lanes are \(excess) records further behind, and do not catch up"
        case .failed(let error): "\(error)"
        }
    }

    // MARK: - Dry runs

    static func write(_ run: DryRun, _ source: LetterSource, to writer: inout Writer) {
        writer.object { writer in
            writer.member("dry_run", true)
            writer.member("topic", source.topic)
            run.tally.writeMembers(to: &writer)
            writer.name("examples")
            writer.array { writer in
                for (cause, example) in run.examples.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    writer.object { writer in
                        writer.member("cause", cause.rawValue)
                        writer.member("place", example.place)
                        writer.member("detail", example.detail)
                    }
                }
            }
        }
    }

    static func show(_ run: DryRun, _ source: LetterSource, _ output: Output) throws {
        let tally = run.tally
        var reasons = Table(
            ("REASON", .left),
            ("LETTERS", .right),
            ("REPLAY", .right),
            ("PARK", .right),
            ("REFUSE", .right)
        )
        func text(_ count: Int) -> String { Quantity.grouped(Int64(count)) }
        for (reason, share) in tally.reasons.sorted(by: {
            ($1.value.total, $0.key) < ($0.value.total, $1.key)
        }) {
            reasons.add(
                reason,
                text(share.total),
                text(share.replayed),
                text(share.parked),
                text(share.refused)
            )
        }
        if tally.matched > 0 { try output.write(reasons.rendered() + "\n") }
        if tally.refused > 0 {
            var refusals = Table(("REFUSED FOR", .left), ("LETTERS", .right), ("FOR EXAMPLE", .left))
            for (cause, count) in tally.refusals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let example = run.examples[cause].map { "\($0.place): \($0.detail)" } ?? ""
                refusals.add(cause.rawValue, text(count), example)
            }
            try output.write(refusals.rendered() + "\n")
        }
        let forced = tally.forced > 0 ? " (\(text(tally.forced)) of them forced)" : ""
        try output.line(
            """
            dry run, nothing was written: of \(text(tally.matched)) letters in \(source.topic) that match, \
            \(text(tally.replayed)) would be replayed\(forced), \(text(tally.parked)) parked, \(text(tally.refused)) refused
            """
        )
    }
}
