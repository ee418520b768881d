import JSON

/// A CloudEvent in the JSON format: what a record in structured mode holds, and a line that `publish` reads.
///
/// `data` in an event whose `datacontenttype` is JSON, or absent, is the JSON value's text as it is; with another
/// type a JSON string stands for its text. `data_base64` is decoded. Neither: the content is empty.
///
/// Source: CloudEvents JSON event format 1.0.2 §2, §3.1.
package struct StructuredEvent {
    /// Every attribute with a value, in the order of the document, `datacontenttype` among them; numbers and booleans
    /// as text.
    package private(set) var attributes: [(name: String, value: [UInt8])] = []
    package private(set) var content: [UInt8] = []
    /// The attributes that mean something here, with the faults of those that are no strings.
    private(set) var checkable = TriggerAttributes()

    /// A whole event in bytes: content of 1018 bytes fits in any encoding, with room for extensions.
    package static let documentLimit = 64 << 10

    /// Reads a document.
    ///
    /// - Parameter document: the bytes of one JSON object.
    /// - Throws: ``TriggerEventError`` with reason `malformed`; whether the event does is checked later.
    package init(_ document: [UInt8]) throws(TriggerEventError) {
        var data = Data()
        do {
            var limits = Limits()
            limits.documentBytes = Self.documentLimit
            try Reader.read(document, limits: limits) { reader throws(ReadError) in
                try reader.readObject { name, reader throws(ReadError) in
                    switch name {
                    case "data": data.value = try Data.bookmark(&reader)
                    case "data_base64":
                        data.base64 = try reader.readNullable { reader throws(ReadError) in
                            try reader.readStringBytes()
                        }
                    default: try read(name.text, &reader)
                    }
                }
            }
            let type = attributes.first { $0.name == "datacontenttype" }
            content = try data.content(isJSON: type.map { MediaType($0.value.span)?.isJSON ?? false } ?? true)
        } catch {
            throw TriggerEventError(
                .malformed,
                attribute: error.path.isEmpty ? nil : error.path,
                "\(error.reason)"
            )
        }
    }

    private mutating func read(_ name: String, _ reader: inout Reader) throws(ReadError) {
        let known = TriggerAttributes.Name(attribute: name)
        let value: [UInt8]
        switch try reader.peek() {
        case .null: return
        case .string: value = try reader.readStringBytes()
        case .number, .boolean:
            value = try reader.readRawBytes()
            if let known { checkable.blame(known, "is not a string") }
        case .object, .array:
            if let known { checkable.blame(known, "is not a string") }
            return
        }
        attributes.append((name, value))
        if let known { checkable.take(known, value) }
    }

    /// The two ways to give content, until the whole document is read: what `data` means depends on a member that may
    /// come later.
    private struct Data {
        var value: Reader?
        var base64: [UInt8]?

        static func bookmark(_ reader: inout Reader) throws(ReadError) -> Reader? {
            let bookmark = reader
            let kind = try reader.peek()
            try reader.skipValue()
            return kind == .null ? nil : bookmark
        }

        func content(isJSON: Bool) throws(ReadError) -> [UInt8] {
            if let base64 {
                guard value == nil else {
                    throw ReadError(.unacceptable("both data and data_base64"), offset: 0)
                }
                guard let bytes = Base64Text.decode(base64.span) else {
                    throw ReadError(.unacceptable("is not Base64"), offset: 0, path: "data_base64")
                }
                return bytes
            }
            guard var reader = value else { return [] }
            let kind = try reader.peek()
            return kind == .string && !isJSON ? try reader.readStringBytes() : try reader.readRawBytes()
        }
    }
}
