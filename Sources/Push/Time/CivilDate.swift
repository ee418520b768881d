/// A day in the proleptic Gregorian calendar, and the arithmetic between days and their number since the epoch.
///
/// Years 0 to 9999 only, which is what four digits can say; the algorithm counts days from 1 March so that the leap
/// day is the last of its year. Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
/// (days_from_civil, civil_from_days).
struct CivilDate: Equatable, Sendable {
    var year: Int64
    /// 1 to 12.
    var month: Int64
    /// 1 to the number of days of the month.
    var day: Int64

    /// - Returns: nil unless the three numbers name a day that exists, in the years 0 to 9999.
    init?(year: Int64, month: Int64, day: Int64) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.days(inMonth: month, year: year)
        else {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
    }

    /// - Parameter daysSinceEpoch: days since 1970-01-01; clamped to the years 0 to 9999.
    init(daysSinceEpoch: Int64) {
        let shifted = min(max(daysSinceEpoch, Self.firstDay), Self.lastDay) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01; negative before it.
    var daysSinceEpoch: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// 0000-01-01.
    static let firstDay: Int64 = -719_528
    /// 9999-12-31.
    static let lastDay: Int64 = 2_932_896

    private static func days(inMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
