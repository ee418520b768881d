extension Reader {
    /// The end of the well-formed scalar of two to four bytes that begins at `index`; nil when there is none.
    func endOfUTF8Scalar(at index: Int) -> Int? {
        UTF8Form.end(of: bytes.span, from: index, before: end)
    }
}

/// Which byte sequences are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
///
/// Source: RFC 3629 §4.
enum UTF8Form {
    /// The end of the scalar of two to four bytes at `index`; nil when it is malformed or cut off at `limit`.
    static func end(of bytes: Span<UInt8>, from index: Int, before limit: Int) -> Int? {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[index] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: return nil
        }
        guard index + length <= limit, second.contains(bytes[index + 1]) else { return nil }
        for next in index + 2..<index + length where bytes[next] & 0xC0 != 0x80 { return nil }
        return index + length
    }

    /// Whether all of it is well-formed.
    static func isValid(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            if bytes[index] < 0x80 {
                index += 1
            } else {
                guard let next = end(of: bytes, from: index, before: bytes.count) else { return false }
                index = next
            }
        }
        return true
    }
}
