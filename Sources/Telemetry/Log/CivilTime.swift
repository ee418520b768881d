/// A moment as a calendar and a clock on the wall show it, in UTC.
///
/// Source of the day's arithmetic: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, `civil_from_days`.
struct CivilTime: Equatable {
    let year: Int64
    let month: Int64
    let day: Int64
    let hour: Int64
    let minute: Int64
    let second: Int64
    let millisecond: Int64

    /// - Parameter milliseconds: Since the Unix epoch; clamped to the years 0000 to 9999, which are all that RFC 3339 can write.
    init(milliseconds: Int64) {
        let clamped = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let (days, rest) = Self.floored(clamped, by: 86_400_000)
        let shifted = days + 719_468
        let (era, dayOfEra) = Self.floored(shifted, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = rest / 3_600_000
        minute = rest / 60_000 % 60
        second = rest / 1000 % 60
        millisecond = rest % 1000
    }

    private static func floored(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// As in `2026-01-31T12:34:56.789Z`.
    var rfc3339: String {
        "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))T\(clock)Z"
    }

    /// As in `12:34:56.789`.
    var clock: String {
        "\(Self.padded(hour, 2)):\(Self.padded(minute, 2)):\(Self.padded(second, 2)).\(Self.padded(millisecond, 3))"
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
