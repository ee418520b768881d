internal import DispatchWorker
internal import Hosting
internal import Kafka
internal import Lanes
internal import Postgres
internal import Push
internal import Settings
internal import Telemetry

/// The command `posthorn dispatch`.
enum DispatchCommand {
    static let command = Command(
        CommandSyntax(
            "dispatch",
            summary: "send notifications to their gateways",
            description: """
                Reads notifications from Kafka and sends them to the gateways on the operator's list, in batches and at least once, each with the \
                same id however often. What fails for now comes again by way of the retry topics, up to its expiry; what cannot be delivered goes to \
                the dead-letter topic. Deletes pushers that their gateways reject. Start as many as you like.
                """,
            groups: [
                DispatchOptions.sending, DispatchOptions.bounds, DispatchOptions.retrying,
                DispatchOptions.upkeep, DeadLetterHeaderOptions.group, KafkaOptions.group, TopicOptions.group,
                DatabaseOptions.group, WorkerOptions.group, LoggingOptions.group,
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let instance = try WorkerOptions.instanceName(
            invocation.values,
            group: TopicOptions.catalogue(invocation.values).dispatchGroup
        )
        let settings = try settings(invocation.values, instance: instance.name)
        let configuration = WorkerOptions.configuration(role: "dispatch", invocation.values)
        let registry = Registry()
        let log = LoggingOptions.log(invocation, metrics: registry)
        registry.addProcessMetrics(version: Program.version)
        let metrics = DispatchMetrics(registry, lanes: configuration.lanes)
        return try WorkerProcess(configuration, log: log, registry: registry).run(
            exitCode: \DispatchError.exitCode,
            body: { context throws(DispatchError) in
                try DispatchLane.run(
                    settings,
                    context: context,
                    metrics: metrics,
                    log: log.with(["lane": .text(context.name)])
                )
            }
        )
    }

    /// What the options say, as a lane takes it.
    static func settings(_ values: Values, instance: String) throws -> DispatchSettings {
        let kafka = Kafka.Configuration(KafkaOptions.properties(values))
        if let fault = kafka.faults().first { throw fault }
        var settings = DispatchSettings(
            kafka: kafka,
            database: try Postgres.Configuration(values[DatabaseOptions.url].reveal())
        )
        settings.topics = TopicOptions.catalogue(values)
        settings.instance = instance
        settings.deadLetterNaming = values[DeadLetterHeaderOptions.naming]
        DispatchOptions.apply(values, to: &settings)
        // Time is left to commit and to leave the group.
        settings.drainTimeout = max(values[WorkerOptions.drainDeadline] * 0.6, .milliseconds(500))
        return settings
    }
}
