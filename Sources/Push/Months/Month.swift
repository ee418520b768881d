import JSON

/// A month of a year, which names a generation of keys: `yyyy-MM` on the wire, months since 0000-01 in the database.
///
/// Always one of the years 0 to 9999, so that its text has exactly seven bytes; arithmetic stops at those ends
/// instead of overflowing. From outside (wire, database, registrations) only ``accepted`` is let in: a month far away
/// would make a chain derive thousands of generations, or block it for good, since chains never move back.
package struct Month: Hashable, Sendable {
    /// Months since 0000-01, which is year × 12 + month − 1: the form of the database's columns.
    package let ordinal: Int32

    /// 2000-01 to 2099-12: what is accepted from outside.
    package static let accepted = Month(unchecked: 2000 * 12)...Month(unchecked: 2099 * 12 + 11)

    /// From the database; nil outside ``accepted``.
    package init?(ordinal: Int32) {
        guard Self.accepted.contains(Month(unchecked: ordinal)) else { return nil }
        self.ordinal = ordinal
    }

    /// From a year and a month counted from 1; nil outside ``accepted``.
    package init?(year: Int, month: Int) {
        guard (2000...2099).contains(year), (1...12).contains(month) else { return nil }
        ordinal = Int32(year * 12 + month - 1)
    }

    /// Reads exactly seven ASCII bytes `yyyy-MM`; nil for any other text, and outside ``accepted``.
    package init?(_ text: Span<UInt8>) {
        guard text.count == 7, let year = Digits.read(text, at: 0, count: 4), text[4] == UInt8(ascii: "-"),
            let month = Digits.read(text, at: 5, count: 2)
        else { return nil }
        self.init(year: Int(year), month: Int(month))
    }

    package init?(_ text: String) {
        self.init(text.utf8.span)
    }

    private init(unchecked ordinal: Int32) {
        self.ordinal = ordinal
    }

    package var year: Int { Int(ordinal) / 12 }

    /// 1 to 12.
    package var month: Int { Int(ordinal) % 12 + 1 }

    /// The seven ASCII bytes `yyyy-MM`, which are HKDF's info and the month on the wire; allocates nothing.
    package var ascii: InlineArray<7, UInt8> {
        let year = self.year
        let month = self.month
        func digit(_ value: Int) -> UInt8 { UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10) }
        return [
            digit(year / 1000), digit(year / 100), digit(year / 10), digit(year), UInt8(ascii: "-"),
            digit(month / 10), digit(month),
        ]
    }

    /// Appends the seven ASCII bytes `yyyy-MM`.
    package func append(to output: inout [UInt8]) {
        let ascii = self.ascii
        output.appendBytes(ascii.span)
    }
}

extension Month {
    /// The month of a moment on the clocks of a zone that is `utcOffset` seconds ahead of UTC; clamped to the years 0
    /// to 9999.
    ///
    /// For devices and tests; the sender takes its month from the database, whose clock all workers share.
    package init(of moment: Timestamp, utcOffset: Int32 = 0) {
        let local = moment.adding(milliseconds: Int64(utcOffset) * 1000).milliseconds
        let remainder = local % Timestamp.dayLength
        let date = CivilDate(daysSinceEpoch: local / Timestamp.dayLength - (remainder < 0 ? 1 : 0))
        self.init(unchecked: Int32(truncatingIfNeeded: date.year * 12 + date.month - 1))
    }

    /// The month `count` months later, or earlier if negative; stops at 0000-01 and 9999-12.
    package static func + (month: Month, count: Int) -> Month {
        let last = 9999 * 12 + 11
        let bounded = min(max(count, -last), last)
        return Month(unchecked: Int32(min(max(Int(month.ordinal) + bounded, 0), last)))
    }

    package static func - (month: Month, count: Int) -> Month {
        month + (count == .min ? .max : -count)
    }

    /// How many months `left` is after `right`; negative if before.
    package static func - (left: Month, right: Month) -> Int {
        Int(left.ordinal) - Int(right.ordinal)
    }
}

extension Month: Comparable {
    package static func < (left: Month, right: Month) -> Bool {
        left.ordinal < right.ordinal
    }
}

extension Month: CustomStringConvertible {
    /// `yyyy-MM`.
    package var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
