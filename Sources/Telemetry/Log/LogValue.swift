/// The value of a field in a log line.
///
/// Keys, pushkeys, tokens and plaintext are never one; ids and codes are.
package enum LogValue: Sendable, Equatable {
    case text(String)
    case int64(Int64)
    case number(Double)
    case flag(Bool)
    /// Written in seconds.
    case duration(Duration)

    package static func integer(_ value: some BinaryInteger) -> LogValue {
        .int64(Int64(clamping: value))
    }

    /// Whatever describes itself without secrets, such as the errors of our modules.
    package static func description(of value: some CustomStringConvertible) -> LogValue {
        .text(value.description)
    }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .int64(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .flag(value) }
}

/// Fields of a log line in the order given; names are literals in snake_case.
package typealias LogFields = KeyValuePairs<StaticString, LogValue>
