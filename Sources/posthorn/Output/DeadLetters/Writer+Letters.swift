internal import DeadLetters
internal import JSON
internal import Kafka
internal import Push

/// Letters and what becomes of them, as JSON: the same fields wherever one appears.
extension Writer {
    /// Writes the members of a letter's object.
    mutating func writeMembers(_ letter: Letter, _ disposition: Disposition?) {
        let facts = letter.facts
        member("topic", letter.record.topic)
        member("partition", Int(facts.partition))
        member("offset", facts.offset)
        member("stage", facts.stage.rawValue)
        optional("reason", facts.reason?.rawValue)
        optional("detail", facts.history.detail.isEmpty ? nil : facts.history.detail)
        optional("gateway", facts.gateway)
        optional("app", facts.app)
        optional("channel", facts.channel)
        optional("user", facts.user)
        optional("event", facts.event)
        optional("pushkey", letter.maskedPushkey)
        member("attempts", facts.history.attempts)
        member("replays", facts.history.replayCount)
        optional("replay", facts.history.replayID)
        member("failed_at", facts.failedAt.rfc3339)
        optional("first_failed_at", facts.history.firstFailedAt?.rfc3339)
        optional("expires", letter.expires?.rfc3339)
        member("bytes", letter.record.valueCount ?? 0)
        member("state", disposition?.rawValue ?? "open")
    }

    /// Writes what a replay would do with a letter.
    mutating func write(_ verdict: Verdict) {
        object { writer in
            writer.member("verdict", verdict.description)
            if case .refuse(let refusal) = verdict {
                writer.member("cause", refusal.cause.rawValue)
                writer.member("detail", refusal.detail)
            }
        }
    }

    mutating func counts(_ name: StaticString, _ counts: [String: Int]) {
        self.name(name)
        object { writer in
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: name)
                writer.integer(Int64(count))
            }
        }
    }

    mutating func optional(_ name: StaticString, _ value: String?) {
        self.name(name)
        if let value { string(value) } else { null() }
    }
}
