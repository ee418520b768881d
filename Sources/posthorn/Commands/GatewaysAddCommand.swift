internal import Glibc
internal import Hosting
internal import Push
internal import Registrar
internal import Settings

/// The command `posthorn gateways add`.
enum GatewaysAddCommand {
    static let origin = Argument(
        required: "ORIGIN",
        .origin,
        help: "https://host[:port] of the Push Gateway."
    )
    static let dialect = Option<Dialect>(
        "dialect",
        .choice(),
        default: .gematik12,
        environment: .none,
        help: "The interface that it speaks."
    )
    static let allowPrivate = Option(
        flag: "allow-private",
        environment: .none,
        help: "Allow loopback and private addresses, for trying out."
    )
    static let insecure = Option(
        flag: "insecure",
        environment: .none,
        help: "Allow http:// on top of --allow-private, for trying out."
    )
    static let confirmRejections = Option(
        "confirm-rejections",
        .integer(in: GatewayEntry.confirmationsRange),
        default: 1,
        environment: .none,
        help:
            "How many rejections of a pushkey delete a pusher; 2 for a gateway that reports its provider's passing troubles as dead keys."
    )
    static let caFile = Option(
        optional: "ca-file",
        .file,
        otherwise: "the system's authorities",
        environment: .none,
        help: "PEM file of the authorities that its certificate is checked against."
    )
    static let clientCertificate = Option(
        optional: "client-cert",
        .file,
        environment: .none,
        help: "PEM file of the certificate that this service shows; with --client-key."
    )
    static let clientKey = Option(
        optional: "client-key",
        .file,
        environment: .none,
        help: "PEM file of that certificate's key."
    )

    static let command = Command(
        CommandSyntax(
            "gateways",
            "add",
            summary: "put a gateway on the list of places that notifications are sent to",
            description: """
                Adding one that is on the list replaces all its settings by those given now. The dialect stays as long as \
                pushers are registered there. Files must be where the workers find them: they are looked at now, and their \
                absolute paths are stored.
                """,
            arguments: [origin],
            groups: [
                OptionGroup("Options", dialect, confirmRejections, allowPrivate, insecure),
                OptionGroup("TLS", caFile, clientCertificate, clientKey),
                DatabaseOptions.group,
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        let entry = GatewayEntry(
            origin: values[origin],
            dialect: values[dialect],
            allowsPrivate: values[allowPrivate],
            allowsInsecure: values[insecure],
            caFile: values[caFile].map(absolute),
            clientCertificateFile: values[clientCertificate].map(absolute),
            clientKeyFile: values[clientKey].map(absolute),
            confirmRejections: values[confirmRejections]
        )
        var connection = try DatabaseOptions.connect(values)
        do {
            let word =
                switch try GatewayDirectory.add(entry, to: &connection) {
                case .added: "added"
                case .replaced: "changed"
                case .unchanged: "unchanged"
                }
            try invocation.output.line("\(entry.origin) \(word)")
        } catch RegistrarError.gatewayFaults(let faults) {
            throw Failure(.usage, faults.joined(separator: "; "), hint: "Try 'posthorn gateways add --help'.")
        }
        return .done
    }

    /// The path from the root, links left as they are: a rotated certificate may be one.
    ///
    /// The corresponding C function is `getcwd`.
    private static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }
}

extension ValueKind where Value == GatewayOrigin {
    /// A gateway's origin.
    static var origin: ValueKind {
        ValueKind(
            placeholder: "ORIGIN",
            expectation: "an origin https://host[:port], without a path",
            parse: { try? GatewayOrigin($0) },
            show: { $0.text }
        )
    }
}
