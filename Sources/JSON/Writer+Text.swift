extension [UInt8] {
    /// Appends the inside of a JSON string.
    mutating func appendEscaped(_ text: String) {
        if !containsEscapes(text.utf8.span) {
            append(contentsOf: text.utf8)
        } else {
            for byte in text.utf8 { appendEscaped(byte: byte) }
        }
    }

    /// Appends the inside of a JSON string, given as valid UTF-8.
    mutating func appendEscaped(utf8 text: [UInt8]) {
        if !containsEscapes(text.span) {
            append(contentsOf: text)
        } else {
            for byte in text { appendEscaped(byte: byte) }
        }
    }

    private mutating func appendEscaped(byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case 0x0A: append(contentsOf: "\\n".utf8)
        case 0x0D: append(contentsOf: "\\r".utf8)
        case 0x09: append(contentsOf: "\\t".utf8)
        case 0x00..<0x20:
            append(contentsOf: "\\u00".utf8)
            append(UInt8(ascii: "0") + byte >> 4)
            let low = byte & 0x0F
            append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        default: append(byte)
        }
    }

    /// Appends a number in decimal.
    mutating func appendDecimal(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = count
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }
}

extension UInt8 {
    /// Whether a JSON string cannot hold it as it is (RFC 8259 §7).
    var needsEscape: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}

/// Looks at every byte rather than stopping at the first find: without an exit the loop is vectorised,
/// and a find is rare.
private func containsEscapes(_ bytes: Span<UInt8>) -> Bool {
    var found: UInt8 = 0
    for index in 0..<bytes.count {
        let byte = bytes[index]
        found |= (byte < 0x20 ? 1 : 0) | (byte == 0x22 ? 1 : 0) | (byte == 0x5C ? 1 : 0)
    }
    return found != 0
}
