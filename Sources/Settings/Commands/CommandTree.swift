/// All commands of the program, and which one a command line means.
package struct CommandTree: Sendable {
    package let program: String
    /// One line that says what the program is.
    package let summary: String
    package let commands: [CommandSyntax]
    private let known: KnownNames

    package init(program: String, summary: String, commands: [CommandSyntax]) {
        self.program = program
        self.summary = summary
        self.commands = commands
        known = KnownNames(commands)
    }

    /// What a command line means.
    package enum Selection: Sendable, Equatable {
        /// The command at `index` of ``commands``, with the words behind its name.
        case command(index: Int, words: [String])
        /// Help about the program (empty path), a group of commands or one command.
        ///
        /// `wasAsked` is false when words are missing, so that help takes the place of a complaint.
        case help(path: [String], wasAsked: Bool)
    }

    /// - Throws: ``SettingsError`` when no command has that name; the nearest one is suggested.
    package func select(_ line: [String]) throws(SettingsError) -> Selection {
        if line.first == "help" { return try helpAbout(Array(line.dropFirst())) }
        var path: [String] = []
        var rest = line[...]
        while let word = rest.first, !word.hasPrefix("-"), command(at: path) == nil {
            guard hasCommands(below: path + [word]) else { throw unknown(word, below: path) }
            path.append(word)
            rest.removeFirst()
        }
        let isHelp = Self.asksForHelp(rest)
        if let index = command(at: path), !isHelp { return .command(index: index, words: Array(rest)) }
        if !isHelp, let word = rest.first {
            throw SettingsError([
                Fault(quoted(word), from: .argument, "options stand behind the command's name")
            ])
        }
        return .help(path: path, wasAsked: isHelp)
    }

    /// The values of a selected command.
    ///
    /// `words` is what stands behind the command's name, `environment` all variables of the process; `readFile` gives the content of the
    /// settings file. All that is wrong is thrown at once.
    package func resolve(
        _ syntax: CommandSyntax,
        words: [String],
        environment: [String: String],
        readFile: (String) throws(FileContent.Unreadable) -> [UInt8] = {
            (path) throws(FileContent.Unreadable) in
            try FileContent.read(path, limit: SettingsFile.sizeLimit)
        }
    ) throws(SettingsError) -> Values {
        var resolver = Resolver(syntax: syntax, known: known, words: words, environment: environment)
        return try resolver.resolve(readFile: readFile)
    }

    /// Listed commands whose names begin with the words of `path`, in the order declared.
    package func listed(below path: [String]) -> [CommandSyntax] {
        commands.filter { $0.isListed && $0.path.starts(with: path) && $0.path.count > path.count }
    }

    private func command(at path: [String]) -> Int? {
        commands.firstIndex { $0.path == path }
    }

    private func hasCommands(below path: [String]) -> Bool {
        commands.contains { $0.path.starts(with: path) }
    }

    private func helpAbout(_ words: [String]) throws(SettingsError) -> Selection {
        var path: [String] = []
        for word in words where !word.hasPrefix("-") {
            guard hasCommands(below: path + [word]) else { throw unknown(word, below: path) }
            path.append(word)
        }
        return .help(path: path, wasAsked: true)
    }

    private static func asksForHelp(_ words: ArraySlice<String>) -> Bool {
        words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    }

    private func unknown(_ word: String, below path: [String]) -> SettingsError {
        let siblings = commands.filter { $0.path.starts(with: path) && $0.path.count > path.count }
        var hint = Nearest.hint(for: word, among: siblings.map { $0.path[path.count] })
        if hint.isEmpty, let elsewhere = commands.first(where: { $0.path.contains(word) }) {
            hint = "; did you mean \(elsewhere.name)?"
        }
        let name = (path + [word]).joined(separator: " ")
        return SettingsError([Fault(quoted(name), from: .argument, "there is no such command\(hint)")])
    }
}
