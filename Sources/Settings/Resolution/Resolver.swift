/// Finds each declared value: arguments before environment before file before default, with all faults at once.
///
/// Pure but for `readFile`. An empty variable counts as not given, as compose files write them.
struct Resolver {
    private let syntax: CommandSyntax
    private let known: KnownNames
    private let environment: [String: String]
    private let arguments: ArgumentList
    private var file: SettingsFile?
    private var filePath = ""
    private var faults: [Fault] = []
    private var entries: [String: Values.Entry] = [:]

    init(syntax: CommandSyntax, known: KnownNames, words: [String], environment: [String: String]) {
        self.syntax = syntax
        self.known = known
        self.environment = environment
        arguments = ArgumentList(words, options: syntax.options)
        faults = arguments.faults
    }

    typealias ReadFile = (String) throws(FileContent.Unreadable) -> [UInt8]

    mutating func resolve(readFile: ReadFile) throws(SettingsError) -> Values {
        openFile(readFile)
        for option in syntax.options {
            if case .family(let prefix) = option.form {
                resolveFamily(option, prefix: prefix)
            } else {
                resolveOption(option)
            }
        }
        resolvePositional()
        refuseUnknownInFile()
        if !faults.isEmpty { throw SettingsError(faults) }
        return Values(
            definitions: syntax.options + syntax.arguments,
            entries: entries,
            warnings: known.unknown(in: environment).map {
                "\($0) is in the environment, but no setting has that name"
            }
        )
    }

    private mutating func openFile(_ readFile: ReadFile) {
        let option = CommonOptions.config.definition
        let source: Fault.Source
        if let path = arguments.given[option.name]?.last {
            (filePath, source) = (path, .argument)
        } else if let name = option.environment, let path = environment[name], !path.isEmpty {
            (filePath, source) = (path, .environment(name: name))
        } else {
            return
        }
        do {
            let content = try readFile(filePath)
            let read = SettingsFile(path: filePath, content: content)
            faults += read.faults
            file = read
        } catch {
            faults.append(Fault(option.title, from: source, "\(quoted(filePath)) \(error)"))
        }
    }

    private mutating func resolveOption(_ option: Definition) {
        if let texts = arguments.given[option.name] {
            // The last one counts, so only that is read; of a repeated option all are.
            take(option, option.form == .repeated ? texts : texts.suffix(1), from: .argument)
            return
        }
        guard let name = option.environment else {
            if option.isRequired {
                faults.append(Fault(option.title, from: .argument, "is missing; give \(option.expectation)"))
            }
            return
        }
        if let text = environment[name], !text.isEmpty {
            take(option, Self.parts(of: text, option), from: .environment(name: name))
        } else if let entry = file?.entries[name], !entry.value.isEmpty {
            take(option, Self.parts(of: entry.value, option), from: .file(path: filePath, line: entry.line))
        } else if option.isRequired {
            let others = ", as \(name) in the environment or in the file"
            faults.append(
                Fault(option.title, from: .absent, "is missing; give \(option.expectation)\(others)")
            )
        }
    }

    private static func parts(of text: String, _ option: Definition) -> [String] {
        option.form == .repeated ? text.split(separator: ",").map(String.init) : [text]
    }

    private mutating func take(_ definition: Definition, _ texts: [String], from source: Fault.Source) {
        var elements: [any Sendable] = []
        for text in texts {
            if let element = definition.parse(text) {
                elements.append(element)
            } else {
                faults.append(Fault(definition.title, from: source, Self.complaint(definition, text)))
            }
        }
        let shown = definition.isSecret ? "redacted" : texts.joined(separator: ",")
        entries[definition.name] = Values.Entry(elements: elements, source: source, shown: shown)
    }

    private static func complaint(_ definition: Definition, _ text: String) -> String {
        if definition.isSecret { return "is not \(definition.expectation)" }
        let hint = Nearest.hint(for: text, among: definition.choices)
        return "\(quoted(text)) is not \(definition.expectation)\(hint)"
    }

    /// Every source adds to a family; what comes later in `texts` wins.
    private mutating func resolveFamily(_ option: Definition, prefix: String) {
        let fromFile = (file?.entries ?? [:]).mapValues(\.value)
        var elements: [any Sendable] = []
        for variables in [fromFile, environment] {
            for (name, value) in variables.sorted(by: { $0.key < $1.key }) {
                guard name.hasPrefix(prefix), !known.options.contains(name), !value.isEmpty else { continue }
                let property = name.dropFirst(prefix.count).lowercased().replacing("_", with: ".")
                if let element = option.parse("\(property)=\(value)") { elements.append(element) }
            }
        }
        for text in arguments.given[option.name] ?? [] {
            if let element = option.parse(text) {
                elements.append(element)
            } else {
                faults.append(Fault(option.title, from: .argument, Self.complaint(option, text)))
            }
        }
        guard !elements.isEmpty else { return }
        entries[option.name] = Values.Entry(elements: elements, source: .argument, shown: "redacted")
    }

    private mutating func resolvePositional() {
        var rest = arguments.positional[...]
        for argument in syntax.arguments {
            if argument.form == .repeated {
                if !rest.isEmpty { take(argument, Array(rest), from: .argument) }
                rest = []
            } else if let text = rest.popFirst() {
                take(argument, [text], from: .argument)
            } else if argument.isRequired {
                faults.append(
                    Fault(argument.title, from: .argument, "is missing; give \(argument.expectation)")
                )
            }
        }
        for text in rest {
            faults.append(Fault(quoted(text), from: .argument, "is one argument too many"))
        }
    }

    private mutating func refuseUnknownInFile() {
        guard let file else { return }
        for (name, entry) in file.entries.sorted(by: { $0.value.line < $1.value.line })
        where !known.contains(name) {
            let hint = Nearest.hint(for: name, among: known.options.sorted())
            faults.append(
                Fault(name, from: .file(path: filePath, line: entry.line), "there is no such setting\(hint)")
            )
        }
    }
}

/// The names that mean something in environment and file, over all commands: one file serves them all.
struct KnownNames: Sendable {
    let options: Set<String>
    let prefixes: Set<String>

    init(_ syntaxes: [CommandSyntax]) {
        var options: Set<String> = []
        var prefixes: Set<String> = []
        for definition in syntaxes.flatMap(\.options) {
            if let name = definition.environment { options.insert(name) }
            if case .family(let prefix) = definition.form { prefixes.insert(prefix) }
        }
        self.options = options
        self.prefixes = prefixes
    }

    func contains(_ name: String) -> Bool {
        options.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    /// Names that are ours by prefix and mean nothing.
    ///
    /// Only worth a warning: an orchestrator may add variables named after a service of ours.
    func unknown(in environment: [String: String]) -> [String] {
        environment.keys.filter { $0.hasPrefix(EnvironmentName.prefix) && !contains($0) }.sorted()
    }
}
