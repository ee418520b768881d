extension CommandTree {
    /// The help about the program, a group of commands, or one command, as ``Selection/help(path:wasAsked:)`` names it.
    ///
    /// `width` are the terminal's columns; `isBold` marks headings and names for a terminal.
    package func help(about path: [String], width: Int, isBold: Bool) -> String {
        var page = HelpText(width: width, isBold: isBold)
        if let command = commands.first(where: { $0.path == path }) {
            describe(command, on: &page)
        } else {
            describeGroup(path, on: &page)
        }
        return page.text
    }

    private func describeGroup(_ path: [String], on page: inout HelpText) {
        let name = ([program] + path).joined(separator: " ")
        if path.isEmpty { page.paragraph("\(program): \(summary)\n") }
        page.paragraph("Usage: \(name) COMMAND [OPTION]...")
        page.heading("Commands")
        let entries = listed(below: path)
        let column = min(28, (entries.map { $0.name.count }.max() ?? 0) + 4)
        for command in entries {
            page.entry(command.name, column: column, [command.summary])
        }
        page.paragraph("\nEach command explains itself: \(name) COMMAND --help")
    }

    private func describe(_ command: CommandSyntax, on page: inout HelpText) {
        page.paragraph("\(program) \(command.name): \(command.summary)\n")
        page.paragraph(usage(of: command))
        if !command.description.isEmpty { page.paragraph("\n\(command.description)") }
        if !command.arguments.isEmpty {
            page.heading("Arguments")
            for argument in command.arguments {
                page.entry(argument.name, column: Self.column, [argument.help, details(of: argument)])
            }
        }
        for group in command.groups {
            page.heading(group.title)
            for option in group.definitions {
                page.entry(Self.title(of: option), column: Self.column, [option.help, details(of: option)])
            }
        }
        page.paragraph(
            "\nA setting is taken from the arguments, else the environment, else the file, else its default."
        )
    }

    private static let column = 30

    private func usage(of command: CommandSyntax) -> String {
        let words = command.arguments.map { argument in
            let name = argument.form == .repeated ? "\(argument.name)..." : argument.name
            return argument.isRequired ? name : "[\(name)]"
        }
        let required = command.options.filter(\.isRequired).map { "--\($0.name) \($0.placeholder)" }
        return (["Usage: \(program)", command.name, "[OPTION]..."] + required + words).joined(separator: " ")
    }

    private static func title(of option: Definition) -> String {
        let short = option.short.map { "-\($0), " } ?? ""
        return option.form == .flag
            ? "\(short)--\(option.name)" : "\(short)--\(option.name) \(option.placeholder)"
    }

    /// What it takes with range and unit, its default, and its name in the environment.
    private func details(of definition: Definition) -> String {
        var parts: [String] = []
        if definition.form != .flag, definition.expectation != Definition.anyText {
            parts.append(definition.expectation)
        }
        switch definition.form {
        case .repeated: parts.append("may be repeated")
        case .family(let prefix): parts.append("may be repeated; \(prefix)A_B sets a.b")
        case .single, .flag: break
        }
        if definition.isRequired { parts.append("required") }
        if let text = definition.defaultText, definition.name != CommonOptions.help.definition.name {
            parts.append("default \(text)")
        }
        if let name = definition.environment { parts.append(name) }
        return parts.isEmpty ? "" : "[\(parts.joined(separator: "; "))]"
    }
}
