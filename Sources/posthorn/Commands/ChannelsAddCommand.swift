internal import Hosting
internal import Push
internal import Registrar
internal import Settings

/// The command `posthorn channels add`.
enum ChannelsAddCommand {
    static let id = Argument(required: "ID", .text("ID"), help: "Its name, such as erp.task.activate.")
    static let triggerTypes = Option(
        repeated: "trigger-type",
        .text("TYPE"),
        environment: .none,
        help:
            "A CloudEvents type whose events belong to it, unless they name a channel themselves; again for more."
    )
    static let defaultStatus = Option<ChannelStatus?>(
        optional: "default",
        .choice(ChannelStatus.self),
        otherwise: "not_set, or as it is",
        environment: .none,
        help: "What holds for a pusher that says nothing about it; not_set is as good as disabled."
    )
    static let allowPlain = Option(
        flag: "allow-plain",
        environment: .none,
        help: "Send its events unencrypted to pushers that have no keys; --no-allow-plain takes it back."
    )

    static let command = Command(
        CommandSyntax(
            "channels",
            "add",
            summary: "add a kind of event that users can subscribe to, or change one",
            description: """
                For a channel that is there, only what is given changes: trigger types are added to those it has, and one that \
                belonged to another channel moves here.
                """,
            arguments: [id],
            groups: [OptionGroup("Options", triggerTypes, defaultStatus, allowPlain), DatabaseOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var change = ChannelChange(id: values[id])
        change.triggerTypes = values[triggerTypes]
        change.defaultStatus = values[defaultStatus]
        change.allowsPlain = values.isGiven(allowPlain) ? values[allowPlain] : nil
        var connection = try DatabaseOptions.connect(values)
        do {
            let addition = try ChannelDirectory.add(change, to: &connection)
            try invocation.output.line("\(change.id) \(addition.isNew ? "added" : "changed")")
            for type in addition.moved {
                try invocation.output.line("trigger type \(type.triggerType) moved here from \(type.from)")
            }
        } catch RegistrarError.channelFault(let fault) {
            throw Failure(.usage, fault)
        }
        return .done
    }
}
