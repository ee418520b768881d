/// How urgent a message is: `prio` on the wire, absent meaning high.
package enum Priority: String, Hashable, Sendable, CaseIterable {
    case high
    case low

    /// Reads exactly `high` or `low`; nil for any other text.
    package init?(_ text: Span<UInt8>) {
        switch text.count {
        case 4 where text[0] == UInt8(ascii: "h") && Self.matches(text, "high"): self = .high
        case 3 where Self.matches(text, "low"): self = .low
        default: return nil
        }
    }

    private static func matches(_ text: Span<UInt8>, _ literal: StaticString) -> Bool {
        literal.withUTF8Buffer { literal in
            guard literal.count == text.count else { return false }
            for index in text.indices where unsafe text[index] != literal[index] { return false }
            return true
        }
    }
}
