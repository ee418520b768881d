internal import Settings

/// How to reach Kafka.
enum KafkaOptions {
    static let bootstrapServers = Option(
        required: "bootstrap-servers",
        .text("HOST:PORT,...", expectation: "a list of HOST:PORT, parted by commas"),
        environment: "POSTHORN_KAFKA_BOOTSTRAP_SERVERS",
        help: "Brokers to begin with; they name the others."
    )
    static let properties = Option(
        properties: "kafka",
        prefix: "POSTHORN_KAFKA_",
        help: "Any property of librdkafka, such as security.protocol=SASL_SSL; values are kept out of logs."
    )

    static let group = OptionGroup("Kafka", bootstrapServers, properties)

    /// The properties for librdkafka; passwords are among them.
    static func properties(_ values: Values) -> [String: String] {
        var result = values[properties].mapValues { $0.reveal() }
        result["bootstrap.servers"] = values[bootstrapServers]
        return result
    }
}
