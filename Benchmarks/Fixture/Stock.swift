internal import Push

/// Notifications that are written to the broker as they are, without the encrypt lane: for pushers of the population, and each like the
/// real ones but for its ciphertext.
enum Stock: String, CaseIterable {
    /// As many for each of ten gateways, in turn.
    case mixed
    /// For one gateway, which is down.
    case waiting
    /// Dead letters of one gateway.
    case letters

    /// Each has topics of its own.
    var topics: TopicCatalogue { TopicCatalogue(prefix: "\(rawValue).") }

    /// Where they are written.
    var topic: String {
        switch self {
        case .mixed, .waiting: topics.notifications
        case .letters: topics.notificationDeadLetters
        }
    }

    /// How many gateways they are for.
    var gateways: Int { self == .mixed ? GatewayRow.count : 1 }

    /// What is written for a measurement of so many trigger events.
    func count(_ arguments: Arguments) -> Int {
        switch self {
        case .mixed: arguments.events * 6
        case .waiting: arguments.waiting
        case .letters: Self.letterCount
        }
    }

    static let letterCount = 100_000
}
