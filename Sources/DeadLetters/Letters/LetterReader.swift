package import Kafka
package import Push

/// Makes a ``Letter`` of a record; nothing that a record can hold stops it.
package struct LetterReader: ~Copyable {
    private let source: LetterSource
    private var pseudonyms: Pseudonyms
    /// The address met last, and its origin: most letters are for a few gateways.
    private var lastGateway: (url: [UInt8], origin: String?) = ([], nil)

    package init(_ source: LetterSource, _ pseudonyms: consuming Pseudonyms) {
        self.source = source
        self.pseudonyms = pseudonyms
    }

    /// What a record says; `now` stands in for a time that it does not have.
    package mutating func read(_ record: Record, now: Timestamp) throws(DeadLettersError) -> Letter {
        var history = FailureHistory()
        var fields = Fields()
        for header in record.headers where !history.take(header: header.name, header.value) {
            if let value = header.value { fields.take(header.name, value) }
        }
        let made = record.timestamp.map { Timestamp(milliseconds: $0) }
        var facts = DeadLetterFacts(
            partition: record.partition,
            offset: record.offset,
            history: history,
            stage: history.stage ?? source.stage,
            failedAt: history.lastFailedAt ?? made ?? now
        )
        let subject: Letter.Subject
        if record.isTombstone {
            subject = .unreadable(.tombstone, "the record has no value")
        } else if source.holdsPlaintext {
            subject = event(record, fields, &facts, now: now)
        } else {
            subject = notification(record, fields, &facts)
        }
        var user = fields.user
        if case .event(let event) = subject { user = event.user }
        if let user { facts.user = try pseudonyms.text(of: user) }
        return Letter(record: record, facts: facts, subject: subject)
    }

    /// The headers that matter here, of either kind of record; the first of a name counts.
    private struct Fields {
        var user: [UInt8]?
        var gateway: [UInt8]?
        var app: String?
        var channel: String?
        var event: String?
        var format: NotificationFormat?
        var month: Month?
        var hasMonth = false
        var expires: Int64?
        var registered: Int64?

        mutating func take(_ name: String, _ value: [UInt8]) {
            switch name {
            case "user", "ce_subject": user = user ?? value
            case "gateway": gateway = gateway ?? value
            case "app": app = app ?? Self.text(value)
            case "channel", "ce_channel": channel = channel ?? Self.text(value)
            case "event", "ce_id": event = event ?? Self.text(value)
            case "format": format = format ?? NotificationFormat(value.span)
            case "month":
                hasMonth = true
                month = month ?? Month(value.span)
            case "expires": expires = expires ?? Self.number(value)
            case "registered": registered = registered ?? Self.number(value)
            default: break
            }
        }

        private static func text(_ value: [UInt8]) -> String? {
            value.count <= 1024 && TextRules.isClean(value.span)
                ? String(decoding: value, as: UTF8.self) : nil
        }

        private static func number(_ value: [UInt8]) -> Int64? {
            // Up to the end of the year 9999, as the dispatch stage takes it.
            Int64(String(decoding: value.prefix(20), as: UTF8.self)).flatMap {
                (0...253_402_300_799_999).contains($0) ? $0 : nil
            }
        }
    }

    // MARK: - Kinds

    private mutating func notification(
        _ record: Record,
        _ fields: Fields,
        _ facts: inout DeadLetterFacts
    ) -> Letter.Subject {
        let gateway = fields.gateway.flatMap { origin(of: $0) }
        facts.gateway = gateway
        facts.app = fields.app
        facts.channel = fields.channel
        facts.event = fields.event
        func missing(_ what: String) -> Letter.Subject {
            .unreadable(.malformedNotification, "\(what): missing or not as it must be")
        }
        guard !record.hasUnreadableHeaders else { return missing("headers") }
        guard let pusher = record.withKey({ PusherID(text: $0) }) ?? nil else { return missing("key") }
        guard let user = fields.user, UserID.isValid(user.span) else { return missing("user") }
        guard let expires = fields.expires else { return missing("expires") }
        guard let registered = fields.registered else { return missing("registered") }
        guard gateway != nil else { return missing("gateway") }
        guard let format = fields.format else { return missing("format") }
        guard !fields.hasMonth || fields.month != nil else { return missing("month") }
        return .notification(
            NotificationSubject(
                user: user,
                pusher: pusher,
                expires: Timestamp(milliseconds: expires),
                registered: Timestamp(milliseconds: registered),
                gateway: gateway,
                month: fields.month,
                format: format
            )
        )
    }

    private func event(
        _ record: Record,
        _ fields: borrowing Fields,
        _ facts: inout DeadLetterFacts,
        now: Timestamp
    ) -> Letter.Subject {
        facts.channel = fields.channel
        facts.event = fields.event
        var reader = TriggerEventReader()
        record.headers.forEachLent { name, value, isNull in
            reader.take(header: name, value, isNull: isNull)
        }
        do throws(TriggerEventError) {
            let timestamp = record.timestamp ?? -1
            switch try reader.finish(value: record.value, recordTimestamp: timestamp, now: now) {
            case .tombstone: return .unreadable(.tombstone, "the record has no value")
            case .event(let event):
                facts.channel = event.channel.map { String(decoding: $0, as: UTF8.self) }
                facts.event = String(decoding: event.id, as: UTF8.self)
                return .event(event)
            }
        } catch {
            return .unreadable(error.reason, error.description)
        }
    }

    private mutating func origin(of url: [UInt8]) -> String? {
        if lastGateway.url == url { return lastGateway.origin }
        let text = String(decoding: url.prefix(GatewayURL.maximumLength + 64), as: UTF8.self)
        let origin = try? GatewayURL(text).origin.text
        lastGateway = (url, origin)
        return origin
    }
}
