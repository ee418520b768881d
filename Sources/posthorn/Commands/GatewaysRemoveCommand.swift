internal import Hosting
internal import Push
internal import Registrar
internal import Settings

/// The command `posthorn gateways remove`.
enum GatewaysRemoveCommand {
    static let origin = Argument(required: "ORIGIN", .origin, help: "Which one.")

    static let command = Command(
        CommandSyntax(
            "gateways",
            "remove",
            summary: "take a gateway off the list",
            description:
                "Refused with exit code 65 as long as pushers are registered there, and if there is none.",
            arguments: [origin],
            groups: [DatabaseOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        var connection = try DatabaseOptions.connect(invocation.values)
        try GatewayDirectory.remove(invocation.values[origin], from: &connection)
        try invocation.output.line("\(invocation.values[origin]) removed")
        return .done
    }
}
