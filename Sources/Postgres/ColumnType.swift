/// The types whose binary form this module writes and reads.
///
/// Source: PostgreSQL 15 `src/include/catalog/pg_type.dat`; these numbers never change between versions.
package enum ColumnType: UInt32, Sendable, CaseIterable {
    case bool = 16
    case bytea = 17
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case float8 = 701
    case timestamptz = 1184
    case uuid = 2950

    /// The type of a one-dimensional array of these.
    var arrayIdentifier: UInt32 {
        switch self {
        case .bool: 1000
        case .bytea: 1001
        case .int8: 1016
        case .int2: 1005
        case .int4: 1007
        case .text: 1009
        case .float8: 1022
        case .timestamptz: 1185
        case .uuid: 2951
        }
    }

    /// Whether a column of type `identifier` has the binary form that a reader of `self` expects.
    ///
    /// `name`, `json`, `bpchar`, `varchar` and `unknown` are sent as text is.
    func reads(_ identifier: UInt32) -> Bool {
        if identifier == rawValue { return true }
        guard self == .text else { return false }
        return identifier == 19 || identifier == 114 || identifier == 705 || identifier == 1042
            || identifier == 1043
    }

    /// Whether `identifier` is an array type whose elements ``reads(_:)`` accepts: `name[]`, `json[]`, `bpchar[]` and
    /// `varchar[]` for text.
    func readsArray(_ identifier: UInt32) -> Bool {
        if identifier == arrayIdentifier { return true }
        guard self == .text else { return false }
        return identifier == 1003 || identifier == 199 || identifier == 1014 || identifier == 1015
    }
}

/// PostgreSQL counts microseconds from 2000-01-01, everyone else from 1970-01-01.
enum Epoch {
    /// Unix time of 2000-01-01T00:00:00Z.
    static let milliseconds: Int64 = 946_684_800_000

    /// Nil where PostgreSQL's range ends.
    static func microseconds(unixMilliseconds: Int64) -> Int64? {
        let (shifted, overflow) = unixMilliseconds.subtractingReportingOverflow(milliseconds)
        let (scaled, tooFar) = shifted.multipliedReportingOverflow(by: 1000)
        return overflow || tooFar ? nil : scaled
    }

    /// Rounded down to whole milliseconds; nil for `infinity` and `-infinity`.
    static func unixMilliseconds(microseconds: Int64) -> Int64? {
        guard microseconds != .max, microseconds != .min else { return nil }
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1000)
        return quotient - (remainder < 0 ? 1 : 0) + milliseconds
    }
}
