/// What this service asks of registrations beyond the interface's own limits.
package struct RegistrationRules: Hashable, Sendable {
    /// The database's month; the only clock for months.
    package var currentMonth: Month
    package var encryption: EncryptionRule

    /// Whether messages are sealed is the service's decision, never the request's: ePA and E-Rezept require it, the
    /// TI-Messenger leaves it open.
    package enum EncryptionRule: String, Hashable, Sendable, CaseIterable {
        case required
        case optional
        case forbidden
    }

    /// A device ahead by a time zone may already live in the next month.
    package static let monthsAhead = 1
    /// Two years: a device makes its secret when it registers, so an older one is a broken clock, and each month
    /// costs a derivation.
    package static let monthsBehind = 24

    package init(currentMonth: Month, encryption: EncryptionRule = .optional) {
        self.currentMonth = currentMonth
        self.encryption = encryption
    }

    /// The months in which an initial secret may have been made.
    package var acceptedMonths: ClosedRange<Month> {
        (currentMonth - Self.monthsBehind)...(currentMonth + Self.monthsAhead)
    }
}
