internal import HTTPServer
internal import Hosting
internal import Lanes
internal import Settings
internal import Simulation
internal import Telemetry

/// The command `posthorn simulate gateway`.
enum SimulateGatewayCommand {
    static let listen = Option(
        repeated: "listen",
        .address,
        environment: .none,
        help: """
            Where to listen; with port 0 the system chooses, and the first lines of output tell. Given several times, each is a gateway \
            of its own, or the addresses of the script's origins in order.
            """
    )
    static let script = Option(
        optional: "script",
        .file,
        otherwise: "as specified, always",
        environment: .none,
        help:
            "JSON file that says what each gateway does, and when; docs/simulated-gateway.md has every field."
    )
    static let ask = Option(
        optional: "ask",
        .address,
        otherwise: "nobody can ask",
        environment: .none,
        help:
            "Where to answer what was received: GET /counts, /received/ID, /received?since=N; POST /script/phase/NAME."
    )
    static let keep = Option(
        "keep",
        .integer(in: 1...10_000_000, unit: "receipts"),
        default: GatewayLedger.usualLimit,
        environment: .none,
        help: "Receipts to answer from, about 300 bytes each; older ones are forgotten, counts go on."
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
                Takes what the Push Gateway API 1.2 and the concept of 2024 define, checks it, answers as specified or as a script says, and \
                records each item: received_at, path, batch, id and notification. Scripts for drills are in deploy/drills. It runs until \
                SIGTERM or Ctrl-C.
                """,
            groups: [
                OptionGroup("Gateway", listen, script, record, ask, keep, threads),
                OptionGroup("TLS", certificate, key, clientAuthorities),
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        let addresses = values[listen].map { ListenAddress(host: $0.host, port: $0.port) }
        let script = try script(values, addresses.count)
        let common = SimulatedGateway.Settings(
            listen: ListenAddress(host: "", port: 0),
            tls: try tls(values),
            record: values[record],
            threads: values[threads]
        )
        let signals = try TerminationSignals()
        let ledger = GatewayLedger(keeping: values[keep])
        let gateways = try SimulatedGateways(script, common, listen: addresses, ledger: ledger)
        for address in gateways.addresses {
            let name = gateways.addresses.count > 1 ? " as \(address.name)" : ""
            try invocation.output.line("listening on \(address.url)\(name)")
        }
        var inquiry: GatewayInquiry?
        if let address = values[ask] {
            let made = try GatewayInquiry(
                ListenAddress(host: address.host, port: address.port),
                ledger: ledger,
                players: gateways.players
            )
            try invocation.output.line(
                "answering on http://\(ListenAddress(host: address.host, port: made.port))"
            )
            inquiry = consume made
        }
        try invocation.output.flush()
        watch(gateways.players, until: signals)
        inquiry?.drain(within: .seconds(1))
        let isAnswered = gateways.drain(within: .seconds(10))
        try summarise(gateways, values[Self.script] != nil, invocation.output)
        return isAnswered ? .done : .temporary
    }

    /// The script of the file; without one, as many gateways as addresses, each doing what the specification says.
    private static func script(_ values: Values, _ addresses: Int) throws -> GatewayScript {
        guard let path = values[script] else {
            guard (1...32).contains(addresses) else {
                throw Failure(.usage, "give --listen HOST:PORT, at least once and at most 32 times")
            }
            return GatewayScript(
                origins: (1...addresses).map { number in
                    GatewayScript.Origin(
                        name: number == 1 ? "gateway" : "gateway-\(number)",
                        phases: [GatewayScript.Phase()]
                    )
                }
            )
        }
        let json: [UInt8]
        do { json = try FileContent.read(path, limit: GatewayScript.longest) } catch {
            throw Failure(.noInput, "\(path) \(error.description)")
        }
        let script: GatewayScript
        do throws(ScriptError) {
            script = try GatewayScript(json: json, folder: folder(of: path))
        } catch {
            throw Failure(.data, "\(path), \(error.description)")
        }
        let needed = script.origins.count { $0.listen == nil }
        guard needed == addresses else {
            throw Failure(
                .usage,
                "\(path) has \(needed) origins without an address of their own, and --listen was given \(addresses) times"
            )
        }
        return script
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func tls(_ values: Values) throws -> Server.TLSPaths? {
        switch (values[certificate], values[key]) {
        case (let certificate?, let key?):
            return Server.TLSPaths(
                certificate: certificate,
                key: key,
                clientAuthorities: values[clientAuthorities]
            )
        case (nil, nil):
            if values[clientAuthorities] != nil {
                throw Failure(.usage, "--client-ca needs --tls-cert and --tls-key")
            }
            return nil
        default: throw Failure(.usage, "--tls-cert and --tls-key go together")
        }
    }

    /// Waits for the signal, and tells on standard error when a phase begins.
    private static func watch(_ players: [ScriptPlayer], until signals: borrowing TerminationSignals) {
        var phases = players.map(\.phase)
        repeat {
            for (index, player) in players.enumerated() where player.phase != phases[index] {
                phases[index] = player.phase
                Diagnostics.write("\(player.origin.name): phase \(phases[index])\n")
            }
        } while !Readiness.wait(for: signals.descriptor, until: Monotonic.deadline(after: .milliseconds(500)))
    }

    private static func summarise(
        _ gateways: SimulatedGateways,
        _ isScripted: Bool,
        _ output: Output
    ) throws {
        let counts = gateways.ledger.counts
        if isScripted || gateways.players.count > 1 {
            for player in gateways.players {
                let own = counts.origins[player.origin.name] ?? GatewayLedger.OriginCounts()
                let answers = own.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
                try output.line(
                    "\(player.origin.name): \(own.items) items in \(own.requests) requests"
                        + (answers.isEmpty ? "" : " (\(answers.joined(separator: ", ")))")
                        + (own.turnedAway == 0 ? "" : ", \(own.turnedAway) turned away")
                )
            }
            try output.line("\(counts.ids) ids, \(counts.repeats) repeats")
        }
        let total = gateways.counts
        try output.line("\(total.items) items in \(total.requests) requests")
    }
}
