/// What text from outside must be like before it is stored, compared or written anywhere.
package enum TextRules {
    /// Whether `bytes` are UTF-8 without control characters (U+0000 to U+001F, U+007F to U+009F).
    ///
    /// CloudEvents forbids those in attributes, PostgreSQL cannot store U+0000, and none belongs in a log.
    /// Source: CloudEvents 1.0.2 §3 (type system, String).
    package static func isClean(_ bytes: Span<UInt8>) -> Bool {
        var isASCII = true
        var previous: UInt8 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 || byte == 0x7F { return false }
            if byte >= 0x80 {
                isASCII = false
                if previous == 0xC2, byte < 0xA0 { return false }
            }
            previous = byte
        }
        return isASCII || isUTF8(bytes)
    }

    static func isUTF8(_ bytes: Span<UInt8>) -> Bool {
        do {
            _ = try UTF8Span(validating: bytes)
            return true
        } catch {
            return false
        }
    }

    /// Whether `byte` is an ASCII letter or digit.
    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// Whether `text` begins with an ASCII letter or digit and goes on with these and `others`.
    static func isToken(_ text: Span<UInt8>, others: StaticString, limit: Int) -> Bool {
        guard text.count > 0, text.count <= limit, isAlphanumeric(text[0]) else { return false }
        return others.withUTF8Buffer { others in
            for index in 1..<max(text.count, 1) where !isAlphanumeric(text[index]) {
                guard unsafe others.contains(text[index]) else { return false }
            }
            return true
        }
    }

    /// The longest beginning of `text` with at most `limit` bytes that does not end inside a character.
    package static func prefix(_ text: String, bytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: max(limit, 0))
        while end > text.startIndex, text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}

/// How users are named: `[0-9A-Za-z][0-9A-Za-z._-]{0,127}`.
///
/// A KVNR or a telematik-id fits. Source: ZETA Guard notification service 1.0.0, `userId`.
package enum UserID {
    package static let maximumLength = 128

    package static func isValid(_ text: Span<UInt8>) -> Bool {
        TextRules.isToken(text, others: "._-", limit: maximumLength)
    }
}

/// How channels are named: `[0-9A-Za-z][0-9A-Za-z._:-]{0,63}`.
///
/// `erp.task.activate` and `xds.put` fit; E-Rezept itself allows 30 characters.
package enum ChannelID {
    package static let maximumLength = 64

    package static func isValid(_ text: Span<UInt8>) -> Bool {
        TextRules.isToken(text, others: "._:-", limit: maximumLength)
    }
}
