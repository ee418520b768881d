@testable import Settings

/// Commands that stand for the program's in these tests.
enum Example {
    enum Dialect: String, CaseIterable {
        case gematik = "gematik-1.2"
        case concept = "concept-2024"
    }

    static let lanes = Option(
        "lanes",
        .integer(in: 1...64, unit: "threads"),
        default: 1,
        help: "Lanes to run."
    )
    static let linger = Option(
        "linger",
        .duration(in: .zero ... .seconds(10)),
        default: .milliseconds(5),
        help: "Wait for a fuller batch."
    )
    static let limit = Option(
        "limit",
        .bytes(in: ByteCount(1) ... .megabytes(4)),
        default: .kilobytes(256),
        help: "Largest request."
    )
    static let instance = Option(
        optional: "instance",
        short: "i",
        .text("NAME"),
        otherwise: "host name and slot",
        help: "Name of this worker."
    )
    static let dialect = Option<Dialect>("dialect", .choice(), default: .gematik, help: "Wire format.")
    static let strict = Option(flag: "strict", short: "s", help: "Stop at the first bad line.")
    static let json = Option(flag: "json", short: "j", help: "Print JSON.")
    static let types = Option(repeated: "trigger-type", short: "t", .text("TYPE"), help: "Type of event.")
    static let listen = Option(
        "listen",
        .address,
        default: Address(host: "127.0.0.1", port: 0),
        help: "Where to serve."
    )
    static let brokers = Option(
        required: "bootstrap-servers",
        .text("HOST:PORT,..."),
        environment: "POSTHORN_KAFKA_BOOTSTRAP_SERVERS",
        help: "Brokers to begin with."
    )
    static let kafka = Option(
        properties: "kafka",
        prefix: "POSTHORN_KAFKA_",
        help: "Any property of librdkafka."
    )
    static let database = Option(
        required: "database-url",
        .secret(.url(schemes: ["postgresql"])),
        help: "The database."
    )
    static let input = Argument("FILE", .fileOrInput, default: "-", help: "Lines to read.")
    static let origin = Argument(required: "ORIGIN", .url(schemes: ["https"]), help: "The gateway.")

    static let importing = CommandSyntax(
        "pushers",
        "import",
        summary: "add pushers from lines of JSON",
        description: "Reads one object a line.",
        arguments: [input],
        groups: [
            OptionGroup("Options", lanes, linger, limit, instance, dialect, strict, json, types, listen)
        ]
    )
    static let encrypt = CommandSyntax(
        "encrypt",
        summary: "seal trigger events",
        groups: [OptionGroup("Kafka", brokers, kafka), OptionGroup("Database", database)]
    )
    static let add = CommandSyntax(
        "gateways",
        "add",
        summary: "list a gateway",
        arguments: [origin],
        groups: [OptionGroup("Options", dialect)]
    )

    static let tree = CommandTree(
        program: "posthorn",
        summary: "sealed push notifications",
        commands: [importing, encrypt, add]
    )

    /// The values of a command, with `file` as the content of every file that is named.
    static func resolve(
        _ syntax: CommandSyntax = importing,
        _ words: [String] = [],
        environment: [String: String] = [:],
        file: String? = nil
    ) throws(SettingsError) -> Values {
        try tree.resolve(syntax, words: words, environment: environment) {
            (_) throws(FileContent.Unreadable) in
            guard let file else { throw FileContent.Unreadable(description: "cannot be read: gone") }
            return Array(file.utf8)
        }
    }

    /// What is wrong with the words, as people read it.
    static func faults(
        _ syntax: CommandSyntax = importing,
        _ words: [String] = [],
        environment: [String: String] = [:],
        file: String? = nil
    ) -> [String] {
        do {
            _ = try resolve(syntax, words, environment: environment, file: file)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }
}
