internal import DeadLetters
internal import Hosting
internal import JSON
internal import Kafka
internal import Settings

/// The command `posthorn dead-letters import`.
enum DeadLettersImportCommand {
    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "import",
            summary: "put exported letters back among the dead letters",
            description: """
                Takes what 'posthorn dead-letters export' wrote, of this or of another cluster, and puts each letter into the \
                dead-letter topic of its stage as it was; replay it from there. A letter that is imported twice is there twice.

                A bad line is told by number and field, and the others are taken; the exit code is 65 then. A line that the broker \
                did not confirm is told too: exit code 75 if it was not reached in time, 74 if it refused. Topics keep letters by \
                their timestamps, so old ones may soon be gone again.
                """,
            arguments: [InputLines.file],
            groups: [
                OptionGroup("Options", InputLines.strict, DeadLetterOptions.json), TopicOptions.group,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        var lines = try InputLines(invocation, things: "letters", limit: TransferLine.limit)
        var call = try DeadLetterCall(invocation)
        var importer = try LetterImporter(call.desk)
        var losses = Losses()
        try lines.each { line, lines in
            defer { losses.take(importer.takeFailures(), importer.takeTroubles(), &lines.progress) }
            do {
                try importer.add(try TransferLine(line), number: lines.number)
            } catch let error as TransferError {
                return error.description
            } catch let error as KafkaError where !error.isFatal {
                losses.add(error, line: lines.number, error.description, &lines.progress)
            }
            return nil
        }
        while importer.inFlight > 0 {
            importer.settle(waiting: .milliseconds(100))
            losses.take(importer.takeFailures(), importer.takeTroubles(), &lines.progress)
        }
        lines.progress.clear()
        for (topic, count) in importer.confirmed.sorted(by: { $0.key < $1.key }) {
            try call.desk.note(.import, on: topic, in: &call.connection) { $0.member("letters", count) }
        }
        try summarise(importer.confirmed, lines.bad, losses.count, invocation)
        return losses.code ?? (lines.bad == 0 ? .done : .data)
    }

    private static func summarise(
        _ confirmed: [String: Int],
        _ bad: Int,
        _ failed: Int,
        _ invocation: Invocation
    ) throws {
        let total = confirmed.values.reduce(0, +)
        if invocation.values[DeadLetterOptions.json] {
            try invocation.output.json { writer in
                writer.object { writer in
                    writer.member("imported", total)
                    writer.member("bad", bad)
                    writer.member("failed", failed)
                    writer.counts("topics", confirmed)
                }
            }
            return
        }
        try invocation.output.line(
            "\(Quantity.grouped(Int64(total))) imported, \(bad) bad lines, \(failed) not delivered"
        )
    }
}
