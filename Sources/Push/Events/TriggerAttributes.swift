/// The attributes of one event as they came, by whichever mode, before they are checked.
///
/// One slot per attribute that means something here; the rest is ignored. The first fault is kept and thrown at the
/// end, so that collecting is cheap and the order of headers does not matter.
struct TriggerAttributes {
    private var values = InlineArray<11, [UInt8]?>(repeating: nil)
    private var seen: UInt16 = 0
    private var fault: TriggerEventError?

    enum Name: Int, CaseIterable {
        case specversion
        case id
        case source
        case type
        case subject
        case time
        case channel
        case priority
        case expirytime
        case identifier
        case traceparent

        /// From a header's name, prefix included.
        ///
        /// All of them fit into a string's own 15 bytes, so each comparison is one of two words.
        init?(header: String) {
            switch header {
            case "ce_specversion": self = .specversion
            case "ce_id": self = .id
            case "ce_source": self = .source
            case "ce_type": self = .type
            case "ce_subject": self = .subject
            case "ce_time": self = .time
            case "ce_channel": self = .channel
            case "ce_priority": self = .priority
            case "ce_expirytime": self = .expirytime
            case "ce_identifier": self = .identifier
            case "ce_traceparent": self = .traceparent
            default: return nil
            }
        }

        /// From the CloudEvents name, as a structured event has it.
        init?(attribute: String) {
            self.init(header: "ce_" + attribute)
        }

        var text: String { "\(self)" }
    }

    /// Takes one attribute; null and empty are the same as absent.
    mutating func take(_ name: Name, _ value: [UInt8]?) {
        let bit: UInt16 = 1 << UInt16(name.rawValue)
        if seen & bit != 0 {
            blame(name, "repeated")
        }
        seen |= bit
        if let value, !value.isEmpty { values[name.rawValue] = value }
    }

    /// Whether `name` came with a value.
    func has(_ name: Name) -> Bool {
        values[name.rawValue] != nil
    }

    /// Remembers a fault of `name`, unless there was one before.
    mutating func blame(_ name: Name, _ problem: String) {
        if fault == nil { fault = TriggerEventError(.invalidAttribute, attribute: name.text, problem) }
    }

    /// Checks everything.
    ///
    /// - Parameters:
    ///   - content: what is sealed.
    ///   - recordTimestamp: when the record was made; stands in for an absent `time`.
    /// - Returns: the event.
    /// - Throws: ``TriggerEventError`` for the first attribute that does not do.
    func event(content: [UInt8], recordTimestamp: Timestamp) throws(TriggerEventError) -> TriggerEvent {
        guard seen & 0b1111 != 0 else { throw TriggerEventError(.malformed, "not a CloudEvent") }
        if let fault { throw fault }
        guard try required(.specversion, limit: 16) == Array("1.0".utf8) else {
            throw TriggerEventError(.invalidAttribute, attribute: "specversion", "is not 1.0")
        }
        let id = try required(.id)
        let source = try required(.source)
        let type = try required(.type)
        let user = try required(.subject, limit: UserID.maximumLength)
        guard UserID.isValid(user.span) else { throw invalid(.subject, "is not the name of a user") }
        let channel = try text(.channel, limit: ChannelID.maximumLength)
        if let channel, !ChannelID.isValid(channel.span) {
            throw invalid(.channel, "is not the name of a channel")
        }
        let created = try moment(.time) ?? recordTimestamp
        let expires = try moment(.expirytime) ?? created.adding(TriggerEvent.defaultLifetime)
        let priority = try priority()
        let identifier = try text(.identifier, limit: TriggerEvent.identifierLimit)
        let limit = PlaintextFrame.maximumPayloadLength
        guard content.count <= limit else {
            throw TriggerEventError(
                .contentTooLarge,
                "content has \(content.count) bytes, \(limit) are allowed"
            )
        }
        return TriggerEvent(
            id: id,
            source: source,
            type: type,
            user: user,
            channel: channel,
            priority: priority,
            created: created,
            expires: expires,
            identifier: identifier,
            traceparent: traceparent,
            content: content
        )
    }

    // MARK: - One attribute

    private func required(
        _ name: Name,
        limit: Int = TriggerEvent.textLimit
    ) throws(TriggerEventError) -> [UInt8] {
        guard let value = try text(name, limit: limit) else {
            throw TriggerEventError(.missingAttribute, attribute: name.text, "is missing or empty")
        }
        return value
    }

    private func text(_ name: Name, limit: Int) throws(TriggerEventError) -> [UInt8]? {
        guard let value = values[name.rawValue] else { return nil }
        guard value.count <= limit else { throw invalid(name, "is longer than \(limit) bytes") }
        guard TextRules.isClean(value.span) else {
            throw invalid(name, "is not UTF-8 without control characters")
        }
        return value
    }

    private func moment(_ name: Name) throws(TriggerEventError) -> Timestamp? {
        guard let value = values[name.rawValue] else { return nil }
        guard let moment = Timestamp(rfc3339: value.span) else {
            throw invalid(name, "is not an RFC 3339 timestamp")
        }
        return moment
    }

    private func priority() throws(TriggerEventError) -> Priority? {
        guard let value = values[Name.priority.rawValue] else { return nil }
        guard let priority = Priority(value.span) else { throw invalid(.priority, "is neither high nor low") }
        return priority
    }

    /// nil also if malformed: a broken trace must not cost a message.
    private var traceparent: [UInt8]? {
        guard let value = values[Name.traceparent.rawValue], TraceParent.isValid(value.span) else {
            return nil
        }
        return value
    }

    private func invalid(_ name: Name, _ problem: String) -> TriggerEventError {
        TriggerEventError(.invalidAttribute, attribute: name.text, problem)
    }
}

/// The shape of W3C Trace Context's `traceparent`, version 00: `00-<32 hex>-<16 hex>-<2 hex>`, ids not all zero.
///
/// Source: W3C Trace Context §3.2.2.
package enum TraceParent {
    package static func isValid(_ text: Span<UInt8>) -> Bool {
        guard text.count == 55, text[0] == UInt8(ascii: "0"), text[1] == UInt8(ascii: "0") else {
            return false
        }
        var isZero = (trace: true, span: true)
        for index in 2..<55 {
            let byte = text[index]
            if index == 2 || index == 35 || index == 52 {
                guard byte == UInt8(ascii: "-") else { return false }
                continue
            }
            guard Hexadecimal.value(byte) != nil, !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
            else {
                return false
            }
            if byte != UInt8(ascii: "0") {
                if index < 35 { isZero.trace = false } else if index < 52 { isZero.span = false }
            }
        }
        return !isZero.trace && !isZero.span
    }
}
