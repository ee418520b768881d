package import JSON
package import Push

/// What became of the letters of a replay, or would become of them.
package struct ReplayTally: Hashable, Sendable {
    /// What became of the letters of one reason.
    package struct Share: Hashable, Sendable {
        package var replayed = 0
        package var parked = 0
        package var refused = 0

        package var total: Int { replayed + parked + refused }
    }

    /// By `x-dlq-reason`; a reason that is not known here is ``unknownReason``.
    package private(set) var reasons: [String: Share] = [:]
    /// By cause, of those that were refused.
    package private(set) var refusals: [ReplayRefusal.Cause: Int] = [:]
    /// Of the replayed, those whose time was over.
    package private(set) var forced = 0

    static let unknownReason = "unknown"

    package init() {}

    package var replayed: Int { reasons.values.reduce(0) { $0 + $1.replayed } }
    package var parked: Int { reasons.values.reduce(0) { $0 + $1.parked } }
    package var refused: Int { reasons.values.reduce(0) { $0 + $1.refused } }
    package var matched: Int { replayed + parked + refused }

    package mutating func count(_ verdict: Verdict, reason: DeadLetterReason?) {
        let name = reason?.rawValue ?? Self.unknownReason
        switch verdict {
        case .replay(let isForced):
            reasons[name, default: Share()].replayed += 1
            if isForced { forced += 1 }
        case .park: reasons[name, default: Share()].parked += 1
        case .refuse(let refusal):
            reasons[name, default: Share()].refused += 1
            refusals[refusal.cause, default: 0] += 1
        }
    }

    // MARK: - JSON

    /// Writes the members of an object.
    package func writeMembers(to writer: inout Writer) {
        writeCounts(to: &writer)
        writer.name("reasons")
        writer.object { writer in
            for (reason, share) in reasons.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: reason)
                writer.object { writer in
                    writer.member("replayed", share.replayed)
                    writer.member("parked", share.parked)
                    writer.member("refused", share.refused)
                }
            }
        }
    }

    /// Writes the members of an object, without the reasons.
    func writeCounts(to writer: inout Writer) {
        writer.member("matched", matched)
        writer.member("replayed", replayed)
        writer.member("forced", forced)
        writer.member("parked", parked)
        writer.member("refused", refused)
        writer.name("refusals")
        writer.object { writer in
            for (cause, count) in refusals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                writer.name(escaping: cause.rawValue)
                writer.integer(Int64(count))
            }
        }
    }

    /// Reads what ``writeMembers(to:)`` wrote into an object.
    init(_ reader: inout Reader) throws(ReadError) {
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "forced": forced = try reader.readCount()
            case "refusals":
                try reader.readObject { name, reader throws(ReadError) in
                    guard let cause = ReplayRefusal.Cause(rawValue: name.text) else { return }
                    refusals[cause] = try reader.readCount()
                }
            case "reasons":
                try reader.readObject { name, reader throws(ReadError) in
                    reasons[name.text] = try Share(&reader)
                }
            default: break
            }
        }
    }
}

extension ReplayTally.Share {
    fileprivate init(_ reader: inout Reader) throws(ReadError) {
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "replayed": replayed = try reader.readCount()
            case "parked": parked = try reader.readCount()
            case "refused": refused = try reader.readCount()
            default: break
            }
        }
    }
}

extension Reader {
    fileprivate mutating func readCount() throws(ReadError) -> Int {
        Int(try readInt64(in: 0...Int64.max))
    }
}
