internal import Hosting
internal import Intake
internal import JSON
internal import Kafka
internal import Settings

/// The command `posthorn topics check`.
enum TopicsCheckCommand {
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object a difference.")

    static let command = Command(
        CommandSyntax(
            "topics",
            "check",
            summary: "tell how the topics differ from what they should be",
            description: """
                Compares what 'posthorn topics create' with the same options would make: topics that are missing, numbers of \
                partitions, replication if it is given, and settings. Prints one line a difference, and exits with 0 if \
                there is none, with 65 if there is any.
                """,
            groups: [OptionGroup("Options", json), TopicOptions.shapeGroup, KafkaOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        let keeper = try TopicKeeper(
            Configuration(KafkaOptions.properties(values)),
            TopicOptions.catalogue(values),
            partitions: values[TopicOptions.partitions],
            replication: values[TopicOptions.replication]
        )
        let differences = try keeper.check()
        for difference in differences {
            if values[json] {
                try invocation.output.json { writer in
                    writer.object { writer in
                        writer.member("topic", difference.topic)
                        writer.member("kind", difference.kind.rawValue)
                        writer.member("what", difference.what)
                        writer.name("actual")
                        if let actual = difference.actual { writer.string(actual) } else { writer.null() }
                        writer.member("expected", difference.expected)
                    }
                }
            } else {
                try invocation.output.line("\(difference.topic): \(text(difference))")
            }
        }
        if differences.isEmpty, !values[json] {
            try invocation.output.line("all topics are as they should be")
        }
        return differences.isEmpty ? .done : .data
    }

    private static func text(_ difference: TopicKeeper.Difference) -> String {
        let actual = difference.actual ?? "unknown"
        switch difference.kind {
        case .missing: return "is missing"
        case .partitions, .replication, .setting:
            return "\(difference.what) is \(actual) instead of \(difference.expected)"
        case .compacted:
            return
                "cleanup.policy is \(actual) instead of \(difference.expected): a compacted topic loses records and refuses those without a key"
        }
    }
}
