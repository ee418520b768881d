internal import Push

/// Who is registered: 200,000 pushers, with one or with four a user, and events for them.
enum Population: String, CaseIterable {
    case one
    case four

    static let pushers = 200_000

    var pushersPerUser: Int { self == .one ? 1 : 4 }
    var users: Int { Self.pushers / pushersPerUser }
    var database: String { "pushers_\(rawValue)" }
    /// Each has topics of its own on the same broker.
    var topics: TopicCatalogue { TopicCatalogue(prefix: "\(rawValue).") }
    /// Where the baseline writes its copies.
    var copies: String { "\(rawValue).copies" }

    /// A user id of the length of a KVNR.
    static func user(_ number: Int) -> String { "X" + padded(number + 110_000_000, 9) }

    /// The user of an event: all over the table, so that no page of it is warm by chance.
    func user(ofEvent number: Int) -> String {
        // A prime that divides neither number of users.
        Self.user(number * 7919 % users)
    }

    static let channel = "erp.task.activate"
    static let triggerType = "de.example.erp.task.activate"
    static let source = "https://erp.example.de/notifications"
    static let appID = "de.example.erp.ios.apns"

    static func pushkey(_ user: Int, _ device: Int) -> String {
        hexadecimal(UInt64(user) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(device))
            + String(repeating: "5a", count: 24)
    }

    static func keyIdentifier(_ user: Int, _ device: Int) -> String {
        "6f9619ff-8b86-4d01-b42d-\(padded(user, 8))\(padded(device, 4))"
    }

    static func eventID(_ number: Int) -> String { "0190f3c2-7b1e-7c44-9a3d-\(padded(number, 12))" }

    /// What is sealed: some 250 bytes, as a notification of E-Rezept has them.
    static func content(_ number: Int) -> String {
        #"{"channel":"\#(channel)","title":"Neues E-Rezept","body":"In Ihrer App liegt ein neues E-Rezept bereit.","#
            + #""task":"160.000.\#(padded(number, 9)).82","time":"2026-01-15T09:30:00Z","practice":"Praxis am Markt, Berlin"}"#
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
