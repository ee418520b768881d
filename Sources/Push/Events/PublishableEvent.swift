/// A trigger event ready for the triggers topic, in binary mode.
///
/// Made from a structured event and checked as the encrypt lane will check it, so that what `publish` sends is never
/// a dead letter for its form. Attributes that mean nothing here travel along.
package struct PublishableEvent {
    /// The record's key: the user, so that one user's events stay in order.
    package var key: [UInt8]
    package var headers: [RecordHeader]
    /// The record's value: the content.
    package var value: [UInt8]
    package var event: TriggerEvent

    /// Reads one line of `publish`.
    ///
    /// - Parameters:
    ///   - document: the bytes of one JSON object, a structured CloudEvent.
    ///   - now: stands in for an absent `time` in the check only; the record gets its own timestamp.
    /// - Throws: ``TriggerEventError``, which names the field.
    package init(structured document: [UInt8], now: Timestamp) throws(TriggerEventError) {
        let structured = try StructuredEvent(document)
        event = try structured.checkable.event(content: structured.content, recordTimestamp: now)
        key = event.user
        value = structured.content
        headers = []
        headers.reserveCapacity(structured.attributes.count)
        for attribute in structured.attributes {
            if attribute.name == "datacontenttype" {
                headers.append(RecordHeader(name: "content-type", value: attribute.value))
            } else {
                guard Self.isAttributeName(attribute.name) else {
                    throw TriggerEventError(
                        .malformed,
                        "an attribute's name is not lower-case letters and digits"
                    )
                }
                headers.append(RecordHeader(name: "ce_" + attribute.name, value: attribute.value))
            }
        }
        if let type = headers.first(where: { $0.name == "content-type" })?.value, !Self.isOrdinary(type) {
            throw TriggerEventError(
                .invalidAttribute,
                attribute: "datacontenttype",
                "is not the type of a content"
            )
        }
    }

    /// Source: CloudEvents 1.0.2 §3 (naming conventions); the length is ours, theirs is a recommendation of 20.
    private static func isAttributeName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    /// A content type of CloudEvents would turn the record into structured mode.
    private static func isOrdinary(_ type: [UInt8]) -> Bool {
        guard TextRules.isClean(type.span), let type = MediaType(type.span) else { return false }
        return !type.text.hasPrefix("application/cloudevents")
    }
}
