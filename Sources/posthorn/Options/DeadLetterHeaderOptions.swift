internal import Push
internal import Settings

/// What dead letters look like.
enum DeadLetterHeaderOptions {
    static let naming = Option<DeadLetterNaming>(
        "dead-letter-headers",
        .choice(),
        default: .own,
        help:
            "Names of the headers that tell a dead letter's story; spring adds those that Spring Kafka and kafka-ui know (kafka_dlt-...)."
    )

    static let group = OptionGroup("Dead letters", naming)
}
