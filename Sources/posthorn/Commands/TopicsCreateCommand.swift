internal import Hosting
internal import Intake
internal import JSON
internal import Kafka
internal import Settings

/// The command `posthorn topics create`.
enum TopicsCreateCommand {
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object a topic.")

    static let command = Command(
        CommandSyntax(
            "topics",
            "create",
            summary: "make the topics that are missing, with their settings",
            description: """
                A topic that is there already is left as it is; 'posthorn topics check' tells whether it is as it should be.
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
        let creations = try keeper.create()
        for creation in creations {
            let outcome = word(creation.outcome)
            if values[json] {
                try invocation.output.json { writer in
                    writer.object { writer in
                        writer.member("topic", creation.topic)
                        writer.member("outcome", outcome)
                    }
                }
            } else {
                try invocation.output.line("\(creation.topic) \(outcome)")
            }
        }
        let errors = creations.compactMap { creation in
            if case .failed(let error) = creation.outcome { error } else { nil as KafkaError? }
        }
        guard let first = errors.first else { return .done }
        throw Failure(first.exitCode, "\(errors.count) of \(creations.count) topics failed: \(first)")
    }

    private static func word(_ outcome: TopicKeeper.Creation.Outcome) -> String {
        switch outcome {
        case .created: "created"
        case .existing: "exists"
        case .failed: "failed"
        }
    }
}
