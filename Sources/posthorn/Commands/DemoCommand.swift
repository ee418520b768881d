internal import Demonstration
internal import Glibc
internal import Hosting
internal import Settings

/// The command `posthorn demo`.
enum DemoCommand {
    static let devices = Option(
        "devices",
        .integer(in: 1...100_000),
        default: 1000,
        environment: .none,
        help: "Devices that register; a third of their users have two."
    )
    static let events = Option(
        "events",
        .integer(in: 1...1_000_000),
        default: 5000,
        environment: .none,
        help: "Trigger events to publish."
    )
    static let rate = Option(
        "rate",
        .integer(in: 1...100_000, unit: "events a second"),
        default: 1000,
        environment: .none,
        help:
            "The most events to publish in a second; fewer while 2,000 notifications are on their way, which is all that the mock cluster holds."
    )
    static let json = Option(
        flag: "json",
        environment: .none,
        help: "Print the summary as one JSON object, and nothing else on standard output."
    )
    static let bootstrapServers = Option(
        optional: "bootstrap-servers",
        .text("HOST:PORT,...", expectation: "a list of HOST:PORT, parted by commas"),
        otherwise: "librdkafka's mock cluster, in this process",
        environment: .none,
        help: "A real Kafka to run on, in topics of the demo's own, which are deleted at the end."
    )
    static let properties = Option(
        properties: "kafka",
        prefix: "POSTHORN_DEMO_KAFKA_",
        help: "Any property of librdkafka, such as security.protocol=SASL_SSL."
    )

    static let command = Command(
        CommandSyntax(
            "demo",
            summary: "show the whole way on this machine, from an event to an opened message",
            description: """
                Needs no configuration: it starts a PostgreSQL in a temporary folder (as the account postgres, if started by root), a Kafka \
                and a simulated gateway in this process, registers devices, publishes events, and runs an encrypt and a dispatch lane between them. \
                The devices open what the gateway gets, and each message is compared with what its device is owed.

                The summary's seconds run from the first trigger to the last message opened; p50_ms and p99_ms from a trigger to its \
                message opened. The exit code is 70 if anything was lost or opened twice. Ctrl-C or SIGTERM ends the publishing, \
                lets come through what is on its way, and sums up; before the first event the exit code is 75. Nothing is left behind.
                """,
            groups: [
                OptionGroup("Demonstration", devices, events, rate, json),
                OptionGroup("Kafka", bootstrapServers, properties),
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        let signals = try TerminationSignals()
        var demonstration = try DemoRun(
            settings(values),
            on: screen(invocation),
            until: signals.descriptor
        )
        let summary = try demonstration.run()
        if values[json] { try invocation.output.json { summary.write(to: &$0) } }
        return summary.isFlawless ? .done : .software
    }

    private static func settings(_ values: Values) -> DemoSettings {
        var settings = DemoSettings()
        settings.devices = values[devices]
        settings.events = values[events]
        settings.rate = values[rate]
        settings.kafka = values[properties].mapValues { $0.reveal() }
        if let servers = values[bootstrapServers] { settings.kafka["bootstrap.servers"] = servers }
        return settings
    }

    /// Standard output; with `--json`, which keeps that to itself, standard error.
    private static func screen(_ invocation: Invocation) -> Screen {
        let target = invocation.values[json] ? STDERR_FILENO : STDOUT_FILENO
        let environment = invocation.environment
        return Screen(
            isTerminal: Terminal.isTerminal(target) && environment["TERM", default: ""] != "dumb",
            width: Terminal.columns(target, environment: environment),
            colours: Terminal.hasColours(target, environment: environment),
            write: { try Output.writeAll(Array($0.utf8), to: target) }
        )
    }
}
