package import Push

/// How many dead letters there are, by what operators ask first.
package struct LetterStatistics: Hashable, Sendable {
    package private(set) var total = 0
    package private(set) var reasons: [String: Int] = [:]
    package private(set) var gateways: [String: Int] = [:]
    package private(set) var apps: [String: Int] = [:]
    package private(set) var ages: [Age: Int] = [:]
    /// Only where letters that are dealt with are counted too.
    package private(set) var dispositions: [Disposition: Int] = [:]
    package private(set) var oldest: Timestamp?
    package private(set) var newest: Timestamp?

    /// How long ago a letter failed last.
    package enum Age: String, Hashable, Sendable, CaseIterable {
        case hour = "under_1h"
        case quarter = "under_6h"
        case day = "under_1d"
        case days = "under_3d"
        case week = "under_7d"
        case older = "7d_and_older"

        package init(_ age: Duration) {
            switch age {
            case ..<(.seconds(3600)): self = .hour
            case ..<(.seconds(6 * 3600)): self = .quarter
            case ..<(.seconds(86_400)): self = .day
            case ..<(.seconds(3 * 86_400)): self = .days
            case ..<(.seconds(7 * 86_400)): self = .week
            default: self = .older
            }
        }
    }

    /// What a letter without the field is counted under.
    package static let unknown = "unknown"
    /// Different gateways and apps that are told apart; further ones are counted together, as ``others``.
    static let limit = 1000
    package static let others = "others"

    package init() {}

    package mutating func count(_ letter: DeadLetterFacts, _ disposition: Disposition?, now: Timestamp) {
        total += 1
        Self.count(letter.reason?.rawValue, &reasons)
        Self.count(letter.gateway, &gateways)
        Self.count(letter.app, &apps)
        ages[Age(now.since(letter.failedAt)), default: 0] += 1
        if let disposition { dispositions[disposition, default: 0] += 1 }
        oldest = min(oldest ?? letter.failedAt, letter.failedAt)
        newest = max(newest ?? letter.failedAt, letter.failedAt)
    }

    private static func count(_ name: String?, _ counts: inout [String: Int]) {
        let name = name ?? unknown
        let isKnown = counts[name] != nil || counts.count < limit
        counts[isKnown ? name : others, default: 0] += 1
    }
}
