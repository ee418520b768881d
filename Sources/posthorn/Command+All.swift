extension Command {
    /// All commands, in the order in which the help lists them.
    static let all: [Command] = [
        DemoCommand.command,
        MigrateCommand.command,
        TopicsCreateCommand.command,
        TopicsCheckCommand.command,
        KeysGenerateCommand.command,
        KeysResealCommand.command,
        GatewaysAddCommand.command,
        GatewaysListCommand.command,
        GatewaysRemoveCommand.command,
        ChannelsAddCommand.command,
        ChannelsListCommand.command,
        PushersImportCommand.command,
        PushersCountCommand.command,
        PushersRemoveCommand.command,
        RejectionsListCommand.command,
        RejectionsDecideCommand.apply,
        RejectionsDecideCommand.discard,
        RejectionsHistoryCommand.command,
        PublishCommand.command,
        EncryptCommand.command,
        DispatchCommand.command,
        SimulateGatewayCommand.command,
        DeviceOpenCommand.command,
        VersionCommand.command,
    ]
}
