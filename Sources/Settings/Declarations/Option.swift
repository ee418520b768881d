/// A declared option: its name, what it takes, its default, and the type of its value.
///
///     static let lanes = Option("lanes", .integer(in: 1...64, unit: "threads"), default: 1, help: "Lanes to run.")
///     static let instance = Option(optional: "instance", .text("NAME"), help: "…")      // String?
///     static let iss = Option(required: "iss", .secret(.text("HEX")), help: "…")        // Secret<String>
///     static let types = Option(repeated: "trigger-type", .text("T"), help: "…")        // [String]
///     static let json = Option(flag: "json", help: "…")                                 // Bool
///
/// Declared once as a static value, listed in a ``CommandSyntax`` and read as `values[lanes]`.
package struct Option<Value: Sendable>: Declaration {
    package let definition: Definition
    private let fallback: Value?
    private let assemble: @Sendable ([any Sendable]) -> Value?

    package func value(from elements: [any Sendable]?) -> Value? {
        guard let elements else { return fallback }
        return assemble(elements)
    }
}

extension Option {
    /// An option that has a default.
    package init(
        _ name: String,
        short: Character? = nil,
        _ kind: ValueKind<Value>,
        default fallback: Value,
        environment: EnvironmentName = .derived,
        help: String
    ) {
        definition = Definition(
            name,
            kind: kind,
            short: short,
            defaultText: kind.show(fallback),
            environment: environment,
            help: help
        )
        self.fallback = fallback
        assemble = { $0.last as? Value }
    }

    /// An option that must be given.
    package init(
        required name: String,
        short: Character? = nil,
        _ kind: ValueKind<Value>,
        environment: EnvironmentName = .derived,
        help: String
    ) {
        definition = Definition(
            name,
            kind: kind,
            short: short,
            isRequired: true,
            environment: environment,
            help: help
        )
        fallback = nil
        assemble = { $0.last as? Value }
    }

    /// An option that may be left out; its value is then nil.
    ///
    /// `otherwise` says what happens then, in the help's place of the default: `the broker's own`.
    package init<Wrapped: Sendable>(
        optional name: String,
        short: Character? = nil,
        _ kind: ValueKind<Wrapped>,
        otherwise: String? = nil,
        environment: EnvironmentName = .derived,
        help: String
    ) where Value == Wrapped? {
        definition = Definition(
            name,
            kind: kind,
            short: short,
            defaultText: otherwise,
            environment: environment,
            help: help
        )
        fallback = .some(nil)
        assemble = { ($0.last as? Wrapped).map { .some($0) } }
    }

    /// An option that may be given several times, in the order given; none gives an empty list.
    package init<Element: Sendable>(
        repeated name: String,
        short: Character? = nil,
        _ kind: ValueKind<Element>,
        environment: EnvironmentName = .derived,
        help: String
    ) where Value == [Element] {
        definition = Definition(
            name,
            kind: kind,
            form: .repeated,
            short: short,
            environment: environment,
            help: help
        )
        fallback = []
        assemble = { $0.compactMap { $0 as? Element } }
    }
}

extension Option where Value == Bool {
    /// A switch; off unless said otherwise.
    package init(
        flag name: String,
        short: Character? = nil,
        default fallback: Bool = false,
        environment: EnvironmentName = .derived,
        help: String
    ) {
        definition = Definition(
            name,
            kind: .truth,
            form: .flag,
            short: short,
            defaultText: fallback ? "on" : "off",
            environment: environment,
            help: help
        )
        self.fallback = fallback
        assemble = { $0.last as? Bool }
    }
}

extension Option where Value == [String: Secret<String>] {
    /// Properties that are passed on as they are: `--NAME key=value`, and `PREFIX_SASL_USERNAME` as `sasl.username`.
    ///
    /// A variable that is an option's own is not part of the family. The values may hold passwords, so all are secret.
    package init(properties name: String, prefix: String, help: String) {
        let kind = ValueKind<Property>(
            placeholder: "NAME=VALUE",
            expectation: "a NAME=VALUE",
            isSecret: true,
            parse: Property.init,
            show: { $0.name }
        )
        definition = Definition(name, kind: kind, form: .family(prefix: prefix), help: help)
        fallback = [:]
        assemble = { elements in
            let pairs = elements.compactMap { $0 as? Property }.map { ($0.name, $0.value) }
            return Dictionary(pairs, uniquingKeysWith: { $1 })
        }
    }
}

/// One property of a family; the name is ASCII letters, digits, dots, dashes and underscores.
private struct Property: Sendable {
    let name: String
    let value: Secret<String>

    init?(_ text: String) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        name = String(text[..<equals])
        value = Secret(String(text[text.utf8.index(after: equals)...]))
        let isName = name.utf8.allSatisfy { byte in
            byte < 0x80
                && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
                || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
        }
        guard isName, !name.isEmpty else { return nil }
    }
}
