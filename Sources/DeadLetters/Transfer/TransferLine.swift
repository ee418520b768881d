package import JSON
package import Kafka
package import Push
internal import Sealing

/// A dead letter as a line of JSON: what `export` writes and `import` reads, for tickets and for other clusters.
///
/// ```json
/// {"stage":"dispatch","topic":"push.notifications.dlq","partition":0,"offset":7,"timestamp":1796044800000,
///  "key":"Base64","value":"Base64","headers":[{"name":"id","text":"…"},{"name":"odd","base64":"…"},{"name":"null"}]}
/// ```
///
/// Null key, value or header value is `null` or absent. Redacted, a line has neither value nor key, the user's digest in the place of the user,
/// and no header that is not known: it is for reading, and is refused by `import`.
package struct TransferLine: Sendable {
    package let stage: FailureStage
    package let key: [UInt8]?
    package let value: [UInt8]?
    package let headers: Headers
    /// Unix milliseconds.
    package let timestamp: Int64?

    /// Bytes of a line: a record at its limit, in Base64, with its headers.
    package static let limit = 4 << 20

    // MARK: - Writing

    package static func write(_ letter: Letter, isRedacted: Bool, to writer: inout Writer) {
        let record = letter.record
        writer.object { writer in
            writer.member("stage", letter.facts.stage.rawValue)
            writer.member("topic", record.topic)
            writer.member("partition", Int(record.partition))
            writer.member("offset", record.offset)
            if let timestamp = record.timestamp { writer.member("timestamp", timestamp) }
            if isRedacted {
                writer.member("redacted", true)
                writer.member("bytes", record.valueCount ?? 0)
                if let key = letter.maskedPushkey { writer.member("pushkey", key) }
            } else {
                writer.name("key")
                write(record.key, to: &writer)
                writer.name("value")
                write(record.value, to: &writer)
            }
            writer.name("headers")
            writer.array { writer in
                for header in record.headers {
                    if isRedacted {
                        writeRedacted(header, letter, to: &writer)
                    } else {
                        write(header, to: &writer)
                    }
                }
            }
        }
    }

    private static func write(_ bytes: [UInt8]?, to writer: inout Writer) {
        guard let bytes else { return writer.null() }
        writer.string(base64(bytes))
    }

    private static func write(_ header: Header, to writer: inout Writer) {
        writer.object { writer in
            writer.member("name", header.name)
            guard let value = header.value else { return }
            if TextRules.isClean(value.span) {
                writer.member("text", utf8: value)
            } else {
                writer.member("base64", base64(value))
            }
        }
    }

    private static func writeRedacted(_ header: Header, _ letter: Letter, to writer: inout Writer) {
        guard HeaderMeaning.text(of: header.name) != nil, let value = header.value,
            TextRules.isClean(value.span)
        else { return }
        writer.object { writer in
            writer.member("name", header.name)
            if HeaderMeaning.namesUser(header.name) {
                writer.member("text", letter.facts.user ?? "")
            } else {
                writer.member("text", utf8: value)
            }
        }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        Base64.encode(bytes.span, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: - Reading

    /// - Throws: ``TransferError``, which names the field.
    package init(_ line: [UInt8]) throws(TransferError) {
        do throws(ReadError) {
            let limits = Limits(documentBytes: Self.limit, depth: 8, stringBytes: Self.limit)
            self = try Reader.read(line, limits: limits) { reader throws(ReadError) in
                try TransferLine(&reader)
            }
        } catch {
            throw TransferError(field: error.path, problem: error.reason.description)
        }
    }

    private init(_ reader: inout Reader) throws(ReadError) {
        var stage: FailureStage?
        var (key, value): ([UInt8]?, [UInt8]?) = (nil, nil)
        var headers = Headers()
        var timestamp: Int64?
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "stage":
                guard let known = FailureStage(rawValue: try reader.readString()) else {
                    throw reader.unacceptable("is neither encrypt nor dispatch")
                }
                stage = known
            case "timestamp": timestamp = try reader.readInt64(in: 0...253_402_300_799_999)
            case "key": key = try reader.readBytes()
            case "value": value = try reader.readBytes()
            case "redacted":
                if try reader.readBool() { throw reader.unacceptable("has no value to import") }
            case "headers":
                try reader.readArray { reader throws(ReadError) in headers.append(try reader.readHeader()) }
            default: break
            }
        }
        guard let stage else { throw reader.missing("stage") }
        self.stage = stage
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }
}

/// Why a line is no dead letter; names the field and the rule, never the value.
package struct TransferError: Error, Sendable, Hashable {
    package let field: String
    package let problem: String
}

extension TransferError: CustomStringConvertible {
    package var description: String { field.isEmpty ? problem : "\(field): \(problem)" }
}

extension Reader {
    /// Base64 or null.
    fileprivate mutating func readBytes() throws(ReadError) -> [UInt8]? {
        try readNullable { reader throws(ReadError) in
            let text = try reader.readStringBytes()
            var bytes: [UInt8] = []
            guard Base64.decode(text.span, into: &bytes) else { throw reader.unacceptable("is no Base64") }
            return bytes
        } ?? nil
    }

    fileprivate mutating func readHeader() throws(ReadError) -> Header {
        var name: String?
        var value: [UInt8]?
        try readObject { member, reader throws(ReadError) in
            switch member {
            case "name": name = try reader.readString()
            case "text": value = try reader.readStringBytes()
            case "base64": value = try reader.readBytes()
            default: break
            }
        }
        guard let name, !name.isEmpty else { throw missing("name") }
        return Header(name, value)
    }
}
