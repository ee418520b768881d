internal import Hosting
internal import JSON
internal import Lines
internal import Registrar
internal import Settings

/// The command `posthorn pushers remove`.
enum PushersRemoveCommand {
    static let user = Option(
        required: "user",
        .text("ID"),
        environment: .none,
        help: "Whose pushers; all of them unless an app and a pushkey are given."
    )
    static let app = Option(
        optional: "app",
        .text("APP_ID"),
        environment: .none,
        help: "Of this app and pushkey only."
    )
    static let pushkey = Option<Secret<String>?>(
        optional: "pushkey",
        .secret(.text("KEY")),
        environment: .none,
        help: "The pushkey; other users of this host can see it, so better --pushkey-file."
    )
    static let pushkeyFile = Option(
        optional: "pushkey-file",
        .file,
        environment: .none,
        help: "File whose first line is the pushkey; - is standard input."
    )
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object.")

    static let command = Command(
        CommandSyntax(
            "pushers",
            "remove",
            summary: "delete a user's pushers with their keys",
            description: "Prints how many there were; none is no error.",
            groups: [OptionGroup("Options", user, app, pushkeyFile, pushkey, json), DatabaseOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        let device = try device(values)
        var connection = try DatabaseOptions.connect(values)
        let count = try PusherDirectory.remove(user: values[user], device: device, from: &connection)
        if values[json] {
            try invocation.output.json { writer in writer.object { $0.member("removed", count) } }
        } else {
            try invocation.output.line("\(count) removed")
        }
        return .done
    }

    private static func device(_ values: Values) throws -> (app: String, pushkey: String)? {
        let key: String?
        switch (values[pushkey], values[pushkeyFile]) {
        case (.some, .some):
            throw SettingsError([values.fault(pushkey, "is given twice, with --pushkey-file")])
        case (let secret?, nil): key = secret.reveal()
        case (nil, let path?): key = try firstLine(of: path)
        case (nil, nil): key = nil
        }
        switch (values[app], key) {
        case (nil, nil): return nil
        case (let app?, let key?): return (app, key)
        case (_?, nil): throw SettingsError([values.fault(app, "needs --pushkey-file or --pushkey with it")])
        case (nil, _?): throw Failure(.usage, "a pushkey needs --app with it")
        }
    }

    private static func firstLine(of path: String) throws -> String {
        var reader = try LineReader(path, limit: 4096)
        var line: [UInt8] = []
        guard try reader.next(into: &line) == .line, let key = String(validating: line, as: UTF8.self) else {
            throw Failure(.data, "\(reader.name) holds no pushkey in its first line")
        }
        return key
    }
}
