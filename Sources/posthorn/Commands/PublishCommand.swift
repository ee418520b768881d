internal import Hosting
internal import Intake
internal import JSON
internal import Kafka
internal import Lanes
internal import Push
internal import Settings

/// The command `posthorn publish`.
enum PublishCommand {
    static let rate = Option(
        optional: "rate",
        .integer(in: 1...10_000_000, unit: "events a second"),
        otherwise: "as fast as the broker takes them",
        environment: .none,
        help: "The most events to send in a second."
    )
    static let json = Option(flag: "json", environment: .none, help: "Print the summary as one JSON object.")

    static let command = Command(
        CommandSyntax(
            "publish",
            summary: "send trigger events from lines of JSON",
            description: """
                A line is a structured CloudEvent 1.0; it is sent in binary mode, with its subject, the user, as the record's \
                key. Lines are checked as the encrypt worker would.

                A bad line is told by number and field, and the others are sent; the exit code is 65 then. A line that the \
                broker did not confirm is told too: exit code 75 if it was not reached in time, 74 if it refused. \
                Publishing a line again gives notifications with the same ids.
                """,
            arguments: [InputLines.file],
            groups: [
                OptionGroup("Options", InputLines.strict, rate, json), TopicOptions.group, KafkaOptions.group,
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var lines = try InputLines(invocation, things: "events")
        var publisher = try Publisher(
            Configuration(KafkaOptions.properties(values)),
            topic: TopicOptions.catalogue(values).triggers
        )
        var losses = Losses()
        let start = ContinuousClock.now
        var pace = values[rate].map { Pace(rate: $0, from: start) }
        try lines.each { line, lines in
            if pace != nil { wait(&pace, &publisher) }
            defer { losses.take(publisher.takeFailures(), publisher.takeTroubles(), &lines.progress) }
            return try send(line, &lines, &publisher, &losses)
        }
        while publisher.inFlight > 0 {
            publisher.settle(waiting: .milliseconds(100))
            losses.take(publisher.takeFailures(), publisher.takeTroubles(), &lines.progress)
        }
        lines.progress.clear()
        try summarise(publisher.confirmed, lines.bad, losses.count, .now - start, invocation)
        return losses.code ?? (lines.bad == 0 ? .done : .data)
    }

    /// - Returns: what is wrong with the line.
    private static func send(
        _ line: [UInt8],
        _ lines: inout InputLines,
        _ publisher: inout Publisher,
        _ losses: inout Losses
    ) throws -> String? {
        do throws(PublishError) {
            let now = Timestamp(milliseconds: WallClock.milliseconds())
            try publisher.publish(line, number: lines.number, now: now)
        } catch {
            switch error {
            case .event(let error): return error.description
            // A producer of no use any more would refuse every line to come.
            case .kafka(let error) where error.isFatal: throw error
            case .kafka(let error):
                losses.add(error, line: lines.number, error.description, &lines.progress)
            }
        }
        return nil
    }

    /// Waits until the next line is due, and serves delivery reports meanwhile.
    private static func wait(_ pace: inout Pace?, _ publisher: inout Publisher) {
        let due = ContinuousClock.now + (pace?.wait(at: .now) ?? .zero)
        while case let left = due - .now, left > .zero {
            publisher.settle(waiting: min(max(left, .milliseconds(1)), .milliseconds(100)))
        }
    }

    private static func summarise(
        _ sent: Int,
        _ bad: Int,
        _ failed: Int,
        _ duration: Duration,
        _ invocation: Invocation
    ) throws {
        let rate = Quantity.rate(Int64(sent), in: duration) ?? 0
        if invocation.values[json] {
            try invocation.output.json { writer in
                writer.object { writer in
                    writer.member("sent", sent)
                    writer.member("bad", bad)
                    writer.member("failed", failed)
                    writer.member("seconds", Quantity.seconds(duration))
                    writer.member("rate", rate)
                }
            }
            return
        }
        try invocation.output.line(
            """
            \(Quantity.grouped(Int64(sent))) sent, \(bad) bad lines, \(failed) not delivered; \
            \(Quantity.seconds(duration)) s, \(Quantity.grouped(rate)) a second
            """
        )
    }
}
