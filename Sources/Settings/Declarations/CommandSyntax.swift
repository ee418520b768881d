/// What a command is called, what it takes, and what its help says.
package struct CommandSyntax: Sendable {
    /// The words that call it: `["pushers", "import"]`.
    package let path: [String]
    /// One line, without a full stop, for lists of commands.
    package let summary: String
    /// Paragraphs for the command's own help, parted by empty lines; wrapped when shown.
    package let description: String
    package let arguments: [Definition]
    package let groups: [OptionGroup]
    /// Whether it appears in lists of commands.
    package let isListed: Bool

    package init(
        _ path: String...,
        summary: String,
        description: String = "",
        arguments: [any Declaration] = [],
        groups: [OptionGroup] = [],
        isListed: Bool = true
    ) {
        self.path = path
        self.summary = summary
        self.description = description
        self.arguments = arguments.map(\.definition)
        self.groups = groups + [CommonOptions.group]
        self.isListed = isListed
    }

    package var name: String { path.joined(separator: " ") }

    package var options: [Definition] { groups.flatMap(\.definitions) }
}

/// Options that every command has.
package enum CommonOptions {
    package static let config = Option<String?>(
        optional: "config",
        .file,
        help: "File of NAME=value lines with the names of the environment; # begins a comment line."
    )
    package static let help = Option(
        flag: "help",
        short: "h",
        environment: .none,
        help: "Print this help and exit."
    )

    static let group = OptionGroup("Common options", config, help)
}
