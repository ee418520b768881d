/// What the resolver and the help need to know of a declared option or argument, whatever its type.
package struct Definition: Sendable {
    package enum Form: Sendable, Equatable {
        /// Takes one value; when given again the last one counts.
        case single
        /// Takes no value on the command line; `--no-NAME` and `--NAME=false` switch it off.
        case flag
        /// May be given any number of times; one text from environment or file holds several, parted by commas.
        case repeated
        /// `--NAME key=value`, any number of times, and every variable that begins with the prefix.
        case family(prefix: String)
    }

    /// The long name without dashes, or an argument's word in the usage line.
    package let name: String
    package let short: Character?
    package let form: Form
    package let placeholder: String
    package let expectation: String
    package let choices: [String]
    package let isSecret: Bool
    package let isPositional: Bool
    package let isRequired: Bool
    /// The default as a person would give it; nil when there is none to tell.
    package let defaultText: String?
    /// The name in the environment and in the file.
    package let environment: String?
    package let help: String
    /// One text to one element; nil when it is refused.
    let parse: @Sendable (String) -> (any Sendable)?

    /// The expectation of kinds that take any text, which says nothing worth a place in the help.
    static let anyText = "a text"

    /// How messages call it: `--lanes`, or `FILE`.
    package var title: String { isPositional ? name : "--\(name)" }
}

extension Definition {
    init<Value: Sendable>(
        _ name: String,
        kind: ValueKind<Value>,
        form: Form = .single,
        short: Character? = nil,
        isPositional: Bool = false,
        isRequired: Bool = false,
        defaultText: String? = nil,
        environment: EnvironmentName = .none,
        help: String
    ) {
        self.name = name
        self.short = short
        self.form = form
        placeholder = kind.placeholder
        expectation = kind.expectation
        choices = kind.choices
        isSecret = kind.isSecret
        self.isPositional = isPositional
        self.isRequired = isRequired
        self.defaultText = defaultText
        self.environment = environment.resolved(for: name)
        self.help = help
        parse = { kind.parse($0) }
    }
}

/// The name of an option in environment and file: by default `POSTHORN_` and the long name in capitals.
///
/// Options of one command that mean something else in another one carry the command's word in a name of their own.
package enum EnvironmentName: Sendable, ExpressibleByStringLiteral {
    case derived
    case named(String)
    case none

    package init(stringLiteral value: String) {
        self = .named(value)
    }

    /// What every variable of the program begins with.
    package static let prefix = "POSTHORN_"

    func resolved(for option: String) -> String? {
        switch self {
        case .derived: Self.prefix + option.uppercased().replacing("-", with: "_")
        case .named(let name): name
        case .none: nil
        }
    }
}

/// Something that a command declares and that has a typed value once resolved: an ``Option`` or an ``Argument``.
package protocol Declaration<Value>: Sendable {
    associatedtype Value: Sendable
    var definition: Definition { get }
    /// The value of what was given, or the default when `elements` is nil; nil when there is neither.
    func value(from elements: [any Sendable]?) -> Value?
}
