extension Command {
    /// All commands, in the order in which the help lists them.
    static let all: [Command] = [
        DispatchCommand.command,
        VersionCommand.command,
    ]
}
