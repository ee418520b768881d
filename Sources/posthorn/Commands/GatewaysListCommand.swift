internal import Hosting
internal import JSON
internal import Push
internal import Registrar
internal import Settings

/// The command `posthorn gateways list`.
enum GatewaysListCommand {
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object a gateway.")

    static let command = Command(
        CommandSyntax(
            "gateways",
            "list",
            summary: "list the gateways, and how many pushers each has",
            groups: [OptionGroup("Options", json), DatabaseOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        var connection = try DatabaseOptions.connect(invocation.values)
        let gateways = try GatewayDirectory.list(from: &connection)
        if invocation.values[json] {
            for gateway in gateways { try invocation.output.json { write(gateway, to: &$0) } }
            return .done
        }
        var table = Table(
            ("ORIGIN", .left),
            ("DIALECT", .left),
            ("PUSHERS", .right),
            ("CONFIRM", .right),
            ("ALLOWS", .left),
            ("TLS", .left)
        )
        for gateway in gateways {
            let entry = gateway.entry
            let allows = [entry.allowsPrivate ? "private" : nil, entry.allowsInsecure ? "insecure" : nil]
            let files = [entry.caFile, entry.clientCertificateFile]
            table.add(
                entry.origin.text,
                entry.dialect.rawValue,
                Quantity.grouped(gateway.pushers),
                String(entry.confirmRejections),
                allows.compactMap { $0 }.joined(separator: ","),
                files.compactMap { $0 }.joined(separator: ",")
            )
        }
        try invocation.output.write(table.rendered())
        return .done
    }

    private static func write(_ gateway: GatewayDirectory.Listing, to writer: inout Writer) {
        let entry = gateway.entry
        writer.object { writer in
            writer.member("origin", entry.origin.text)
            writer.member("dialect", entry.dialect.rawValue)
            writer.member("allow_private", entry.allowsPrivate)
            writer.member("insecure", entry.allowsInsecure)
            writer.name("ca_file")
            writer.string(orNull: entry.caFile)
            writer.name("client_cert")
            writer.string(orNull: entry.clientCertificateFile)
            writer.name("client_key")
            writer.string(orNull: entry.clientKeyFile)
            writer.member("confirm_rejections", entry.confirmRejections)
            writer.member("pushers", gateway.pushers)
        }
    }
}

extension Writer {
    fileprivate mutating func string(orNull value: String?) {
        if let value { string(value) } else { null() }
    }
}
