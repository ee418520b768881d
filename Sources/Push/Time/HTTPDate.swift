/// The date of HTTP headers, in its three forms.
///
/// | form | example |
/// |---|---|
/// | IMF-fixdate | `Sun, 06 Nov 1994 08:49:37 GMT` |
/// | RFC 850, obsolete | `Sunday, 06-Nov-94 08:49:37 GMT` |
/// | asctime, obsolete | `Sun Nov  6 08:49:37 1994` |
///
/// Recipients have to read all three. The day of the week is not compared with the date. Source: RFC 9110 §5.6.7.
enum HTTPDate {
    /// - Parameters:
    ///   - text: the header's value without white space around it.
    ///   - now: decides the century of a two-digit year: one that seems more than 50 years ahead is in the past.
    /// - Returns: nil if `text` has none of the three forms.
    static func read(_ text: String, now: Timestamp) -> Timestamp? {
        guard text.utf8.count <= 40 else { return nil }
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT":
            return date(day: words[1], month: words[2], year: words[3], time: words[4])
        case 5 where words[0].utf8.count == 3:
            return date(day: words[2], month: words[1], year: words[4], time: words[3])
        case 4 where words[3] == "GMT":
            let parts = words[1].split(separator: "-").map(String.init)
            guard parts.count == 3, let short = number(parts[2], digits: 2) else { return nil }
            let currentYear = Int64(Month(of: now).year)
            var year = currentYear - currentYear % 100 + short
            if year > currentYear + 50 { year -= 100 }
            return date(day: parts[0], month: parts[1], year: String(year), time: words[2])
        default: return nil
        }
    }

    private static func date(day: String, month: String, year: String, time: String) -> Timestamp? {
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard let day = number(day, digits: 2) ?? number(day, digits: 1), let year = number(year, digits: 4),
            let month = names.firstIndex(of: month), clock.count == 3,
            let date = CivilDate(year: year, month: Int64(month) + 1, day: day),
            let hour = number(clock[0], digits: 2), let minute = number(clock[1], digits: 2),
            let second = number(clock[2], digits: 2), hour <= 23, minute <= 59, second <= 60
        else { return nil }
        return Timestamp(seconds: date.daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second)
    }

    private static func number(_ text: String, digits: Int) -> Int64? {
        text.utf8.count == digits ? Digits.read(text.utf8.span, at: 0, count: digits) : nil
    }
}

/// The header `Retry-After`: seconds from now, or a date.
///
/// Source: RFC 9110 §10.2.3.
package enum RetryAfter {
    /// Reads the header's value.
    ///
    /// - Parameters:
    ///   - text: the value, white space around it allowed.
    ///   - now: when the answer came.
    /// - Returns: the moment before which one should not ask again, perhaps in the past; nil if it is neither form.
    package static func read(_ text: String, now: Timestamp) -> Timestamp? {
        let trimmed = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        let value = String(trimmed)
        guard !value.isEmpty else { return nil }
        if value.utf8.allSatisfy({ Digits.digit($0) != nil }) {
            // More than 18 digits mean never, as do far fewer.
            let seconds = Digits.read(value.utf8.span, at: 0, count: min(value.utf8.count, 18)) ?? .max
            return now.adding(milliseconds: Timestamp(seconds: seconds).milliseconds)
        }
        return HTTPDate.read(value, now: now)
    }

    private static func isSpace(_ character: Character) -> Bool {
        character == " " || character == "\t"
    }
}
