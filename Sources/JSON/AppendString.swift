extension [UInt8] {
    /// Appends `text` as a JSON string, quotation marks included, for who writes into a buffer of its own.
    ///
    /// `text` is taken for valid UTF-8, which is not checked again; for anything less certain there is
    /// ``Writer/string(utf8:)``.
    package mutating func appendJSONString(_ text: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        var start = 0
        for index in 0..<text.count where text[index].needsEscape {
            appendBytes(text, start..<index)
            appendEscape(text[index])
            start = index + 1
        }
        appendBytes(text, start..<text.count)
        append(UInt8(ascii: "\""))
    }

    /// Appends bytes as they are.
    package mutating func appendBytes(_ bytes: Span<UInt8>) {
        appendBytes(bytes, 0..<bytes.count)
    }

    private mutating func appendBytes(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        unsafe bytes.extracting(range).withUnsafeBufferPointer { buffer in
            unsafe append(contentsOf: buffer)
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x00..<0x20:
            append(contentsOf: "u00".utf8)
            append(UInt8(ascii: "0") + byte >> 4)
            let low = byte & 0x0F
            append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        default: append(byte)
        }
    }
}
