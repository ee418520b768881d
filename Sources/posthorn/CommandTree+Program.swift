internal import Settings

extension CommandTree {
    /// The program's tree over its commands.
    init(_ commands: [Command]) {
        self.init(
            program: "posthorn",
            summary: "turns events in a health service into sealed push notifications",
            commands: commands.map(\.syntax)
        )
    }
}
