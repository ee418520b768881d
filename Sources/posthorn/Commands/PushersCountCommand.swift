internal import Hosting
internal import JSON
internal import Push
internal import Registrar
internal import Settings

/// The command `posthorn pushers count`.
enum PushersCountCommand {
    static let user = Option(optional: "user", .text("ID"), environment: .none, help: "Of this user only.")
    static let app = Option(optional: "app", .text("APP_ID"), environment: .none, help: "Of this app only.")
    static let gateway = Option(
        optional: "gateway",
        .origin,
        environment: .none,
        help: "At this gateway only."
    )
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object.")

    static let command = Command(
        CommandSyntax(
            "pushers",
            "count",
            summary: "count pushers",
            description: "What is given holds together; without any, all are counted, which takes its time.",
            groups: [OptionGroup("Options", user, app, gateway, json), DatabaseOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var connection = try DatabaseOptions.connect(values)
        let filter = PusherFilter(user: values[user], app: values[app], gateway: values[gateway]?.text)
        let count = try PusherDirectory.count(filter, in: &connection)
        if values[json] {
            try invocation.output.json { writer in writer.object { $0.member("pushers", count) } }
        } else {
            try invocation.output.line(String(count))
        }
        return .done
    }
}
