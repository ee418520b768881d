internal import Hosting
internal import JSON
internal import Push
internal import Registrar
internal import Settings

/// The command `posthorn channels list`.
enum ChannelsListCommand {
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object a channel.")

    static let command = Command(
        CommandSyntax(
            "channels",
            "list",
            summary: "list the channels with their defaults and trigger types",
            groups: [OptionGroup("Options", json), DatabaseOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        var connection = try DatabaseOptions.connect(invocation.values)
        let channels = try ChannelDirectory.list(from: &connection)
        if invocation.values[json] {
            for channel in channels {
                try invocation.output.json { writer in
                    writer.object { writer in
                        writer.member("id", channel.id)
                        writer.member("default", channel.defaultStatus.rawValue)
                        writer.member("allow_plain", channel.allowsPlain)
                        writer.name("trigger_types")
                        writer.array { writer in for type in channel.triggerTypes { writer.string(type) } }
                    }
                }
            }
            return .done
        }
        var table = Table(("CHANNEL", .left), ("DEFAULT", .left), ("PLAIN", .left), ("TRIGGER TYPES", .left))
        for channel in channels {
            table.add(
                channel.id,
                channel.defaultStatus.rawValue,
                channel.allowsPlain ? "allowed" : "",
                channel.triggerTypes.joined(separator: ",")
            )
        }
        try invocation.output.write(table.rendered())
        return .done
    }
}
