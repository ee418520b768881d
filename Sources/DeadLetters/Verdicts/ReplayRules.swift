internal import JSON

/// What a replay was told to do with the letters that it finds; stored with it, so that going on means the same.
package struct ReplayRules: Hashable, Sendable {
    package enum Purpose: String, Hashable, Sendable {
        /// Send letters again.
        case replay
        /// Set them aside, all of them.
        case park
    }

    package var purpose: Purpose
    /// Replays of one letter before it is parked.
    package var maximumReplays: Int
    /// Send letters whose time is over.
    package var forcesExpired: Bool
    /// From the replay on, for those that are forced.
    package var forcedLifetime: Duration
    /// The most letters to send; nil for all.
    package var limit: Int?

    package static let defaultMaximumReplays = 3

    package init(
        _ purpose: Purpose = .replay,
        maximumReplays: Int = defaultMaximumReplays,
        forcesExpired: Bool = false,
        forcedLifetime: Duration = .seconds(12 * 3600),
        limit: Int? = nil
    ) {
        self.purpose = purpose
        self.maximumReplays = maximumReplays
        self.forcesExpired = forcesExpired
        self.forcedLifetime = forcedLifetime
        self.limit = limit
    }

    func write(to writer: inout Writer) {
        writer.object { writer in
            writer.member("purpose", purpose.rawValue)
            writer.member("maximum_replays", maximumReplays)
            writer.member("forces_expired", forcesExpired)
            writer.member("forced_lifetime_seconds", forcedLifetime.components.seconds)
            if let limit { writer.member("limit", limit) }
        }
    }

    init(_ reader: inout Reader) throws(ReadError) {
        self.init()
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "purpose":
                guard let known = Purpose(rawValue: try reader.readString()) else {
                    throw reader.unacceptable("is no purpose known here")
                }
                purpose = known
            case "maximum_replays": maximumReplays = Int(try reader.readInt64(in: 0...1_000_000))
            case "forces_expired": forcesExpired = try reader.readBool()
            case "forced_lifetime_seconds":
                forcedLifetime = .seconds(try reader.readInt64(in: 0...Int64(Int32.max)))
            case "limit": limit = Int(try reader.readInt64(in: 0...Int64.max))
            default: throw reader.unacceptable("is not part of a replay's rules")
            }
        }
    }
}
