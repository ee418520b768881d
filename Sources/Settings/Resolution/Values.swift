/// The resolved values of one command's options and arguments, read by their declarations: `values[lanes]`.
package struct Values: Sendable {
    struct Entry: Sendable {
        let elements: [any Sendable]
        let source: Fault.Source
        /// As given, for ``Values/listing``; `redacted` for secrets.
        let shown: String
    }

    private let definitions: [Definition]
    private let entries: [String: Entry]
    /// What is probably a slip, but no fault: variables of ours that no command knows.
    package let warnings: [String]

    init(definitions: [Definition], entries: [String: Entry], warnings: [String]) {
        self.definitions = definitions
        self.entries = entries
        self.warnings = warnings
    }

    /// The value that was given, or the default.
    ///
    /// Reading what the command does not declare is a mistake of the program and ends it.
    package subscript<D: Declaration>(_ declaration: D) -> D.Value {
        let definition = declaration.definition
        guard definitions.contains(where: { $0.name == definition.name }),
            let value = declaration.value(from: entries[definition.name]?.elements)
        else {
            preconditionFailure("\(definition.title) is not declared by this command")
        }
        return value
    }

    /// Whether it was given anywhere, rather than left to its default.
    package func isGiven(_ declaration: some Declaration) -> Bool {
        entries[declaration.definition.name] != nil
    }

    /// A fault of a value that was read well but does not fit with others; a command collects such and throws a ``SettingsError``.
    package func fault(_ declaration: some Declaration, _ complaint: String) -> Fault {
        let definition = declaration.definition
        return Fault(definition.title, from: entries[definition.name]?.source ?? .absent, complaint)
    }

    /// What was given, for a log line at the start: names and values in the order declared, secrets as `redacted`.
    package var listing: [(name: String, value: String)] {
        definitions.compactMap { definition in
            entries[definition.name].map { (definition.name, $0.shown) }
        }
    }
}
