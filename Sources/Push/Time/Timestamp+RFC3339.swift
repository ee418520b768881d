extension Timestamp {
    /// Reads `yyyy-MM-ddTHH:mm:ss[.fraction](Z|±HH:mm)`.
    ///
    /// Strict: every field has its full width, the day exists, the separator is `T` (or `t`, as the grammar allows),
    /// nothing follows. A fraction has 1 to 9 digits and is cut to milliseconds. A leap second (`:60`) is accepted in
    /// the last minute of an hour in UTC and counts as the second after it.
    ///
    /// - Returns: nil if `text` is anything else.
    ///
    /// Source: RFC 3339 §5.6, §5.7.
    package init?(rfc3339 text: Span<UInt8>) {
        guard text.count >= 20, text.count <= 35,
            let seconds = Self.readDateTime(text),
            let (fraction, zone) = Self.readFraction(text, at: 19),
            let offset = Self.readOffset(text, at: zone)
        else { return nil }
        if seconds.isLeap {
            // The last minute of an hour in UTC; every zone's offset is whole minutes, so only the minute needs to
            // fit.
            guard (seconds.value - 60 - offset) % 3600 == 3540 || (seconds.value - 60 - offset) % 3600 == -60
            else { return nil }
        }
        self.init(milliseconds: (seconds.value - offset) * 1000 + fraction)
    }

    package init?(rfc3339 text: String) {
        self.init(rfc3339: text.utf8.span)
    }

    /// `yyyy-MM-ddTHH:mm:ss.SSSZ`; years outside 0 to 9999 show as the nearest day inside.
    package var rfc3339: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        appendRFC3339(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the 24 ASCII bytes of ``rfc3339``.
    package func appendRFC3339(to output: inout [UInt8]) {
        let bounded = min(
            max(milliseconds, CivilDate.firstDay * Self.dayLength),
            (CivilDate.lastDay + 1) * Self.dayLength - 1
        )
        let remainder = bounded % Self.dayLength
        let ofDay = remainder < 0 ? remainder + Self.dayLength : remainder
        let date = CivilDate(daysSinceEpoch: (bounded - ofDay) / Self.dayLength)
        Digits.append(date.year, width: 4, to: &output)
        output.append(UInt8(ascii: "-"))
        Digits.append(date.month, width: 2, to: &output)
        output.append(UInt8(ascii: "-"))
        Digits.append(date.day, width: 2, to: &output)
        output.append(UInt8(ascii: "T"))
        Digits.append(ofDay / 3_600_000, width: 2, to: &output)
        output.append(UInt8(ascii: ":"))
        Digits.append(ofDay / 60_000 % 60, width: 2, to: &output)
        output.append(UInt8(ascii: ":"))
        Digits.append(ofDay / 1000 % 60, width: 2, to: &output)
        output.append(UInt8(ascii: "."))
        Digits.append(ofDay % 1000, width: 3, to: &output)
        output.append(UInt8(ascii: "Z"))
    }

    static let dayLength: Int64 = 86_400_000

    private static func readDateTime(_ text: Span<UInt8>) -> (value: Int64, isLeap: Bool)? {
        guard let year = Digits.read(text, at: 0, count: 4), text[4] == UInt8(ascii: "-"),
            let month = Digits.read(text, at: 5, count: 2), text[7] == UInt8(ascii: "-"),
            let day = Digits.read(text, at: 8, count: 2), text[10] | 0x20 == UInt8(ascii: "t"),
            let hour = Digits.read(text, at: 11, count: 2), text[13] == UInt8(ascii: ":"),
            let minute = Digits.read(text, at: 14, count: 2), text[16] == UInt8(ascii: ":"),
            let second = Digits.read(text, at: 17, count: 2),
            let date = CivilDate(year: year, month: month, day: day),
            hour <= 23, minute <= 59, second <= 60
        else { return nil }
        return (date.daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second, second == 60)
    }

    /// - Returns: the fraction in milliseconds and where the zone begins.
    private static func readFraction(_ text: Span<UInt8>, at start: Int) -> (milliseconds: Int64, end: Int)? {
        guard text[start] == UInt8(ascii: ".") else { return (0, start) }
        var milliseconds: Int64 = 0
        var index = start + 1
        var weight: Int64 = 100
        while index < text.count, let digit = Digits.digit(text[index]) {
            milliseconds += digit * weight
            weight /= 10
            index += 1
        }
        return (1...9).contains(index - start - 1) ? (milliseconds, index) : nil
    }

    /// - Returns: the zone's offset from UTC in seconds; nil unless the zone ends the text.
    private static func readOffset(_ text: Span<UInt8>, at start: Int) -> Int64? {
        guard start < text.count else { return nil }
        let sign = text[start]
        if sign | 0x20 == UInt8(ascii: "z") { return start + 1 == text.count ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), start + 6 == text.count,
            let hour = Digits.read(text, at: start + 1, count: 2), text[start + 3] == UInt8(ascii: ":"),
            let minute = Digits.read(text, at: start + 4, count: 2), hour <= 23, minute <= 59
        else { return nil }
        let offset = hour * 3600 + minute * 60
        return sign == UInt8(ascii: "-") ? -offset : offset
    }
}
