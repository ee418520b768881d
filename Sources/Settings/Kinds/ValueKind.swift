/// How a text becomes a value, and how a person is told what is expected.
///
/// A kind is pure: the same reading serves arguments, environment and file. A text that is refused is described by
/// ``expectation`` alone (`'abc' is not an integer from 1 to 64`), so a kind for secrets cannot leak one.
package struct ValueKind<Value: Sendable>: Sendable {
    /// What stands for the value in the help, such as `N` or `HOST:PORT`.
    package let placeholder: String
    /// What is accepted, with range and unit, to follow "is not": `a duration from 1ms to 1h, such as 30s`.
    package let expectation: String
    /// The accepted words where they are a closed set; the nearest is suggested.
    package let choices: [String]
    /// Whether texts of this kind are kept out of every message.
    package let isSecret: Bool
    /// The value, or nil when the text is none.
    package let parse: @Sendable (String) -> Value?
    /// The value as a person would give it.
    package let show: @Sendable (Value) -> String

    package init(
        placeholder: String,
        expectation: String,
        choices: [String] = [],
        isSecret: Bool = false,
        parse: @escaping @Sendable (String) -> Value?,
        show: @escaping @Sendable (Value) -> String
    ) {
        self.placeholder = placeholder
        self.expectation = expectation
        self.choices = choices
        self.isSecret = isSecret
        self.parse = parse
        self.show = show
    }
}

extension ValueKind where Value == Int {
    /// A decimal integer within a range, bounds included; `unit` tells the help what is counted: `threads`.
    package static func integer(in range: ClosedRange<Int>, unit: String? = nil) -> ValueKind {
        let counted = unit.map { " (\($0))" } ?? ""
        return ValueKind(
            placeholder: "N",
            expectation: "an integer from \(range.lowerBound) to \(range.upperBound)\(counted)",
            parse: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } },
            show: { String($0) }
        )
    }
}

extension ValueKind where Value == Bool {
    /// `true` or `false`, also `yes`, `no`, `on`, `off`, `1`, `0`; the words of a flag.
    package static var truth: ValueKind {
        ValueKind(
            placeholder: "BOOLEAN",
            expectation: "true or false",
            choices: ["true", "false"],
            parse: { text in
                switch text.lowercased() {
                case "true", "yes", "on", "1": true
                case "false", "no", "off", "0": false
                default: nil
                }
            },
            show: { String($0) }
        )
    }
}

extension ValueKind where Value == String {
    /// Any text but the empty one.
    package static func text(
        _ placeholder: String = "TEXT",
        expectation: String = Definition.anyText
    ) -> ValueKind {
        ValueKind(
            placeholder: placeholder,
            expectation: expectation,
            parse: { $0.isEmpty ? nil : $0 },
            show: { $0 }
        )
    }

    /// A path; whether a file is there is the command's business.
    package static var file: ValueKind {
        .text("FILE", expectation: "the path of a file")
    }

    /// A path, or `-` for standard input.
    package static var fileOrInput: ValueKind {
        .text("FILE", expectation: "the path of a file, or - for standard input")
    }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One word of a closed set, as an enumeration writes it.
    package static func choice(_ type: Value.Type = Value.self) -> ValueKind {
        let words = Value.allCases.map(\.rawValue)
        return ValueKind(
            placeholder: words.count <= 3 ? words.joined(separator: "|") : "WORD",
            expectation: "one of \(words.joined(separator: ", "))",
            choices: words,
            parse: { Value(rawValue: $0) },
            show: { $0.rawValue }
        )
    }
}

extension ValueKind {
    /// The same kind, for a value that nobody may see.
    package static func secret<Inner: Sendable>(_ kind: ValueKind<Inner>) -> ValueKind
    where Value == Secret<Inner> {
        ValueKind(
            placeholder: kind.placeholder,
            expectation: kind.expectation,
            choices: kind.choices,
            isSecret: true,
            parse: { kind.parse($0).map { Secret($0) } },
            show: { $0.description }
        )
    }
}
