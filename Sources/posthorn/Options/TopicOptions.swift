internal import Push
internal import Settings

/// Which topics the program works on.
enum TopicOptions {
    static let prefix = Option(
        optional: "topic-prefix",
        .text("TEXT"),
        otherwise: "none",
        help: "Stands before the names of all topics and groups, for a second pipeline on the same brokers."
    )
    static let partitions = Option(
        "partitions",
        .integer(in: 1...10_000),
        default: 12,
        help:
            "Partitions of the topics that lanes work on, so the most lanes at work; dead letters have at most 3."
    )
    static let replication = Option(
        optional: "replication",
        .integer(in: 1...100),
        otherwise: "the broker's own",
        help: "Copies of each partition."
    )

    static let retryDelays = Option(
        "retry-delays",
        .risingDurations(in: .seconds(1) ... .seconds(24 * 3600), upTo: 10),
        default: TopicCatalogue.defaultRetryDelays,
        help:
            "Waits between attempts, each with a topic of its own; the same for all workers. Topics of an earlier setting are read to their end."
    )

    static let group = OptionGroup("Topics", prefix, retryDelays)
    static let shapeGroup = OptionGroup("Topics", partitions, replication, prefix, retryDelays)

    static func catalogue(_ values: Values) -> TopicCatalogue {
        TopicCatalogue(prefix: values[prefix] ?? "", retryDelays: values[retryDelays])
    }
}
