internal import HTTPServer
internal import Hosting
internal import Lanes
internal import Settings
internal import Simulation
internal import Telemetry

/// The command `posthorn simulate gateway`.
enum SimulateGatewayCommand {
    static let listen = Option(
        required: "listen",
        .address,
        environment: .none,
        help: "Where to listen; with port 0 the system chooses, and the first line of output tells."
    )
    static let record = Option(
        optional: "record",
        .file,
        otherwise: "nowhere",
        environment: .none,
        help: "File to which each item received is appended, one JSON object a line."
    )
    static let certificate = Option(
        optional: "tls-cert",
        .file,
        environment: .none,
        help: "Certificate chain in PEM; with --tls-key the gateway speaks TLS."
    )
    static let key = Option(
        optional: "tls-key",
        .file,
        environment: .none,
        help: "Private key in PEM."
    )
    static let clientAuthorities = Option(
        optional: "client-ca",
        .file,
        environment: .none,
        help: "Authorities in PEM; clients must show a certificate by one of them."
    )
    static let threads = Option(
        "threads",
        .integer(in: 1...64, unit: "threads"),
        default: 1,
        environment: .none,
        help: "Threads that answer."
    )

    static let command = Command(
        CommandSyntax(
            "simulate",
            "gateway",
            summary: "stand in for a push gateway",
            description: """
                Takes what the Push Gateway API 1.2 and the concept of 2024 define, checks it, answers as specified, and records each item: \
                received_at, path, batch, id and notification. It runs until SIGTERM or Ctrl-C.
                """,
            groups: [
                OptionGroup("Gateway", listen, record, threads),
                OptionGroup("TLS", certificate, key, clientAuthorities),
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var tls: Server.TLSPaths?
        switch (values[certificate], values[key]) {
        case (let certificate?, let key?):
            tls = Server.TLSPaths(
                certificate: certificate,
                key: key,
                clientAuthorities: values[clientAuthorities]
            )
        case (nil, nil):
            if values[clientAuthorities] != nil {
                throw Failure(.usage, "--client-ca needs --tls-cert and --tls-key")
            }
        default: throw Failure(.usage, "--tls-cert and --tls-key go together")
        }
        let signals = try TerminationSignals()
        let address = values[listen]
        var gateway = try SimulatedGateway(
            SimulatedGateway.Settings(
                listen: ListenAddress(host: address.host, port: address.port),
                tls: tls,
                record: values[record],
                threads: values[threads]
            )
        )
        try invocation.output.line(
            "listening on \(tls == nil ? "http" : "https")://\(address.host):\(gateway.port)"
        )
        try invocation.output.flush()
        while !Readiness.wait(for: signals.descriptor, until: Monotonic.deadline(after: .seconds(60))) {}
        let isAnswered = gateway.drain(within: .seconds(10))
        let counts = gateway.counts
        try invocation.output.line("\(counts.items) items in \(counts.requests) requests")
        return isAnswered ? .done : .temporary
    }
}
