/// A declared positional argument; the order in the command's list is the order on the command line.
///
///     static let input = Argument("FILE", .fileOrInput, default: "-", help: "Where to read from.")
///     static let origin = Argument(required: "ORIGIN", .text(), help: "…")
package struct Argument<Value: Sendable>: Declaration {
    package let definition: Definition
    private let fallback: Value?
    private let assemble: @Sendable ([any Sendable]) -> Value?

    package func value(from elements: [any Sendable]?) -> Value? {
        guard let elements else { return fallback }
        return assemble(elements)
    }

    /// An argument that may be left out.
    package init(_ name: String, _ kind: ValueKind<Value>, default fallback: Value, help: String) {
        definition = Definition(
            name,
            kind: kind,
            isPositional: true,
            defaultText: kind.show(fallback),
            help: help
        )
        self.fallback = fallback
        assemble = { $0.last as? Value }
    }

    /// An argument that must be given.
    package init(required name: String, _ kind: ValueKind<Value>, help: String) {
        definition = Definition(name, kind: kind, isPositional: true, isRequired: true, help: help)
        fallback = nil
        assemble = { $0.last as? Value }
    }

    /// An argument that takes all that is left; last in its command's list.
    package init<Element: Sendable>(repeated name: String, _ kind: ValueKind<Element>, help: String)
    where Value == [Element] {
        definition = Definition(name, kind: kind, form: .repeated, isPositional: true, help: help)
        fallback = []
        assemble = { $0.compactMap { $0 as? Element } }
    }
}
