internal import EncryptWorker
internal import Hosting
internal import Kafka
internal import Lanes
internal import Postgres
internal import Push
internal import Settings
internal import Telemetry

/// The command `posthorn encrypt`: the encrypt worker.
enum EncryptCommand {
    static let batch = Option(
        "batch",
        .integer(in: 1...10_000, unit: "events"),
        default: 1000,
        environment: "POSTHORN_ENCRYPT_BATCH",
        help: "Most events in one transaction."
    )
    static let linger = Option(
        "linger",
        .duration(in: .zero ... .seconds(1)),
        default: .milliseconds(5),
        environment: "POSTHORN_ENCRYPT_LINGER",
        help: "Time to wait for more events once there is one."
    )
    static let transactionTimeout = Option(
        "transaction-timeout",
        .duration(in: .seconds(5) ... .seconds(600)),
        default: .seconds(30),
        environment: "POSTHORN_ENCRYPT_TRANSACTION_TIMEOUT",
        help: "Longest Kafka transaction; a dead worker's can block its partitions for as long."
    )
    static let command = Command(
        CommandSyntax(
            "encrypt",
            summary: "seal trigger events for the devices subscribed to them",
            description: """
                Reads trigger events from Kafka, finds the subscribed pushers in PostgreSQL, moves their key chains to the current month and puts \
                one sealed notification per device on the notifications topic, exactly once. Start as many as you like; each needs an instance name of \
                its own, which it finds by itself on one host.
                """,
            groups: [
                OptionGroup("Encrypting", batch, linger, transactionTimeout), MonthOptions.group,
                TopicOptions.group, KafkaOptions.group, DatabaseOptions.group, KeyFileOptions.group,
                DeadLetterHeaderOptions.group, WorkerOptions.group, LoggingOptions.group,
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        let registry = Registry()
        registry.addProcessMetrics(version: Program.version)
        let log = LoggingOptions.log(invocation, metrics: registry)
        let topics = TopicOptions.catalogue(values)
        let instance = try WorkerOptions.instanceName(values, group: topics.encryptGroup)
        var settings = EncryptSettings(
            kafka: Kafka.Configuration(KafkaOptions.properties(values)),
            database: try Postgres.Configuration(values[DatabaseOptions.url].reveal()),
            keyFile: values[KeyFileOptions.keyFile],
            instance: instance.name
        )
        settings.topics = topics
        settings.deadLetterNaming = values[DeadLetterHeaderOptions.naming]
        settings.batchLimit = values[batch]
        settings.linger = values[linger]
        settings.zone = values[MonthOptions.zone]
        settings.transactionTimeout = values[transactionTimeout]
        let metrics = EncryptMetrics(registry, lanes: values[WorkerOptions.lanes])
        let process = WorkerProcess(
            WorkerOptions.configuration(role: "encrypt", values),
            log: log,
            registry: registry
        )
        let laneSettings = settings
        return try process.run(exitCode: \EncryptError.exitCode) { context throws(EncryptError) in
            try EncryptLane.run(laneSettings, context: context, metrics: metrics, log: log)
        }
    }
}
