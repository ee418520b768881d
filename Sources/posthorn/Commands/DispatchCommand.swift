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
    static let batchItems = Option(
        "batch-size",
        .integer(in: 1...100, unit: "notifications"),
        default: 100,
        environment: "POSTHORN_DISPATCH_BATCH_SIZE",
        help: "Notifications in one request to a gateway; every gateway takes 100."
    )
    static let batchBytes = Option(
        "batch-bytes",
        .bytes(in: .kilobytes(8) ... .megabytes(8)),
        default: ByteCount(BatchFrame.maximumBytes),
        environment: "POSTHORN_DISPATCH_BATCH_BYTES",
        help: "Bytes of one request; every gateway takes 256000."
    )
    static let linger = Option(
        "linger",
        .duration(in: .zero ... .seconds(5)),
        default: .milliseconds(5),
        environment: "POSTHORN_DISPATCH_LINGER",
        help: "How long a notification waits for company before its request leaves."
    )
    static let requestTimeout = Option(
        "request-timeout",
        .duration(in: .seconds(1) ... .seconds(29)),
        default: .seconds(20),
        environment: "POSTHORN_DISPATCH_REQUEST_TIMEOUT",
        help:
            "How long a gateway may take to answer; below the 30 s after which a stuck one answers by itself."
    )
    static let inFlightRecords = Option(
        "in-flight",
        .integer(in: 100...1_000_000, unit: "notifications"),
        default: 10_000,
        environment: "POSTHORN_DISPATCH_IN_FLIGHT",
        help: "Notifications that a lane holds at most; then it reads no further."
    )
    static let inFlightBytes = Option(
        "in-flight-bytes",
        .bytes(in: .megabytes(1) ... .megabytes(4096)),
        default: .megabytes(48),
        environment: "POSTHORN_DISPATCH_IN_FLIGHT_BYTES",
        help: "Memory for notifications that a lane holds at most, likewise."
    )
    static let gatewayRecords = Option(
        "gateway-in-flight",
        .integer(in: 100...1_000_000, unit: "notifications"),
        default: 4000,
        environment: "POSTHORN_DISPATCH_GATEWAY_IN_FLIGHT",
        help: "Notifications that a lane holds for one gateway at most, likewise."
    )
    static let gatewayRequests = Option(
        "gateway-requests",
        .integer(in: 1...100, unit: "requests"),
        default: 16,
        environment: "POSTHORN_DISPATCH_GATEWAY_REQUESTS",
        help:
            "Requests that a lane has under way to one gateway at most; fewer while the gateway does not keep up."
    )
    static let attempts = Option(
        "attempts",
        .integer(in: 1...100),
        default: 12,
        environment: "POSTHORN_DISPATCH_ATTEMPTS",
        help: "How often a notification is tried before it is a dead letter, unless it expires before."
    )
    static let firstBackoff = Option(
        "backoff",
        .duration(in: .milliseconds(10) ... .seconds(60)),
        default: .seconds(1),
        environment: "POSTHORN_DISPATCH_BACKOFF",
        help: "Pause after the first failed attempt; it doubles with each further one."
    )
    static let longestBackoff = Option(
        "backoff-max",
        .duration(in: .milliseconds(10) ... .seconds(3600)),
        default: .seconds(60),
        environment: "POSTHORN_DISPATCH_BACKOFF_MAX",
        help: "Longest pause between two attempts."
    )

    static let sending = OptionGroup(
        "Sending",
        batchItems,
        batchBytes,
        linger,
        requestTimeout,
        gatewayRequests,
        inFlightRecords,
        inFlightBytes,
        gatewayRecords
    )
    static let retrying = OptionGroup("Retrying", attempts, firstBackoff, longestBackoff)

    static let command = Command(
        CommandSyntax(
            "dispatch",
            summary: "send notifications to their gateways",
            description: """
                Reads notifications from Kafka and sends them to the gateways on the operator's list, in batches and at least once, each with the \
                same id however often. Deletes pushers that their gateways reject; puts what cannot be delivered on the dead-letter topic. Start as \
                many as you like.
                """,
            groups: [
                sending, retrying, KafkaOptions.group, TopicOptions.group, DatabaseOptions.group,
                WorkerOptions.group, LoggingOptions.group,
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
            exitCode: { (error: DispatchError) in error.isRetriable ? .temporary : .software },
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
        settings.batchItems = values[batchItems]
        settings.batchBytes = values[batchBytes].bytes
        settings.linger = values[linger]
        settings.requestTimeout = values[requestTimeout]
        settings.outbound.maximumRecords = values[inFlightRecords]
        settings.outbound.maximumBytes = values[inFlightBytes].bytes
        settings.outbound.maximumRecordsPerDestination = values[gatewayRecords]
        settings.outbound.inFlight = InFlightLimit.Settings(maximum: values[gatewayRequests])
        settings.outbound.transient = .inLane(
            Backoff(
                first: values[firstBackoff],
                maximum: values[longestBackoff],
                maximumAttempts: values[attempts]
            )
        )
        // Time is left to commit and to leave the group.
        settings.drainTimeout = max(values[WorkerOptions.drainDeadline] * 0.6, .milliseconds(500))
        return settings
    }
}
