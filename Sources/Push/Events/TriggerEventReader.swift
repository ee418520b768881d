/// Makes a trigger event of a Kafka record, handed over header by header so that no client library is known here.
///
/// ```swift
/// var reader = TriggerEventReader()
/// for header in record.headers { reader.take(header: header.name, header.value) }
/// let result = try reader.finish(value: record.value, recordTimestamp: record.timestamp, now: now)
/// ```
///
/// Binary mode: attributes are headers `ce_<name>`, the value is the content; nothing is parsed. Structured mode,
/// told by the header `content-type: application/cloudevents+json`: the value is the whole event and `ce_` headers
/// are ignored. Unknown headers are ignored; nothing that a header can hold stops the reader.
///
/// Source: CloudEvents Kafka protocol binding 1.0.2 §3.
package struct TriggerEventReader {
    private var attributes = TriggerAttributes()
    private var traceparent: [UInt8]?
    private var mode = Mode.binary

    private static let cloudEventsType = "application/cloudevents"

    private enum Mode {
        case binary
        case structured
        case unsupported
    }

    package init() {}

    /// Takes one header as it lies in the record; one that means nothing here is not copied.
    package mutating func take(header name: Span<UInt8>, _ value: Span<UInt8>, isNull: Bool) {
        // Longer ones mean nothing; a name that is no UTF-8 equals none of ours.
        guard name.count <= 15 else { return }
        let name = unsafe name.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        guard TriggerAttributes.Name(header: name) != nil || Self.isOther(name) else { return }
        take(header: name, isNull ? nil : Self.array(value))
    }

    private static func isOther(_ name: String) -> Bool {
        name == "traceparent" || name.utf8.count == 12
    }

    private static func array(_ bytes: Span<UInt8>) -> [UInt8] {
        unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Takes one header, in the record's order.
    package mutating func take(header name: String, _ value: [UInt8]?) {
        if let attribute = TriggerAttributes.Name(header: name) {
            attributes.take(attribute, value)
        } else if name == "traceparent" {
            traceparent = traceparent ?? value
        } else if name.utf8.count == 12, name.lowercased() == "content-type", let value {
            // Nothing shorter can be a type of CloudEvents, and most are not even JSON's.
            let mayMatter = value.count >= Self.cloudEventsType.utf8.count
            mode = mayMatter ? MediaType(value.span).map(Self.mode) ?? .binary : .binary
        }
    }

    /// Ends the record.
    ///
    /// - Parameters:
    ///   - value: the record's value; null is a tombstone whatever the headers say.
    ///   - recordTimestamp: Unix milliseconds; negative where the record has none.
    ///   - now: stands in for a record's timestamp that is not there.
    /// - Returns: the event, or that it is a tombstone.
    /// - Throws: ``TriggerEventError``: a dead letter with its `reason`.
    package consuming func finish(
        value: [UInt8]?,
        recordTimestamp: Int64,
        now: Timestamp
    ) throws(TriggerEventError) -> TriggerRecord {
        guard let value else { return .tombstone }
        let timestamp = recordTimestamp < 0 ? now : Timestamp(milliseconds: recordTimestamp)
        var attributes = attributes
        var content = value
        switch mode {
        case .binary: break
        case .structured:
            let structured = try StructuredEvent(value)
            attributes = structured.checkable
            content = structured.content
        case .unsupported:
            throw TriggerEventError(.malformed, "only the JSON format of single CloudEvents is understood")
        }
        if let traceparent, !attributes.has(.traceparent) { attributes.take(.traceparent, traceparent) }
        return .event(try attributes.event(content: content, recordTimestamp: timestamp))
    }

    private static func mode(_ type: MediaType) -> Mode {
        guard type.text.hasPrefix(cloudEventsType) else { return .binary }
        return type.text == "application/cloudevents+json" ? .structured : .unsupported
    }
}

/// Type and subtype of a `Content-Type`, lower case, its parameters left out.
///
/// Source: RFC 9110 §8.3.1.
struct MediaType {
    let text: String

    /// nil if it is not short ASCII text.
    init?(_ header: Span<UInt8>) {
        guard header.count <= 256 else { return nil }
        var bytes: [UInt8] = []
        for index in header.indices {
            let byte = header[index]
            if byte == UInt8(ascii: ";") { break }
            guard byte < 0x80 else { return nil }
            if byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\t") { bytes.append(byte) }
        }
        text = String(decoding: bytes, as: UTF8.self).lowercased()
    }

    /// Whether it says that the content is JSON.
    var isJSON: Bool {
        text == "application/json" || text == "text/json" || text.hasSuffix("+json")
    }
}
