/// A string found in the buffer: the bytes between its quotes, and whether they are the text as it stands.
struct ScannedString {
    let content: Range<Int>
    let isPlain: Bool
}

extension Reader {
    /// Reads a string.
    ///
    /// - Parameter limit: its length at most, in UTF-8 bytes after unescaping; default none but ``Limits``.
    /// - Returns: the text after unescaping.
    /// - Throws: ``ReadError``; `stringTooLong` above the limit.
    package mutating func readString(limit: Int = .max) throws(ReadError) -> String {
        let scanned = try scanValue()
        if scanned.isPlain {
            guard scanned.content.count <= limit else { throw ReadError(.stringTooLong, offset: valueStart) }
            // It was found to be UTF-8 when it was scanned.
            return unsafe String(copying: UTF8Span(unchecked: bytes.span.extracting(scanned.content)))
        }
        let decoded = unescape(scanned.content)
        guard decoded.count <= limit else { throw ReadError(.stringTooLong, offset: valueStart) }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Reads a string as UTF-8 bytes.
    ///
    /// - Parameter limit: its length at most, in bytes after unescaping.
    /// - Returns: the text after unescaping.
    /// - Throws: ``ReadError``; `stringTooLong` above the limit.
    package mutating func readStringBytes(limit: Int = .max) throws(ReadError) -> [UInt8] {
        let scanned = try scanValue()
        let decoded = scanned.isPlain ? Array(bytes[scanned.content]) : unescape(scanned.content)
        guard decoded.count <= limit else { throw ReadError(.stringTooLong, offset: valueStart) }
        return decoded
    }

    /// Reads a string and returns where its text lies in the buffer, without copying; nil when it holds escapes
    /// (then it is read all the same, and ``readStringBytes(limit:)`` on a copy made before gives it).
    package mutating func readStringRange() throws(ReadError) -> Range<Int>? {
        let scanned = try scanValue()
        return scanned.isPlain ? scanned.content : nil
    }

    /// Reads a string and compares it with a literal, without making a `String`.
    package mutating func readString(equals literal: StaticString) throws(ReadError) -> Bool {
        let scanned = try scanValue()
        if scanned.isPlain { return MemberName(bytes: bytes, range: scanned.content) == literal }
        let decoded = unescape(scanned.content)
        return MemberName(bytes: decoded, range: 0..<decoded.count) == literal
    }

    private mutating func scanValue() throws(ReadError) -> ScannedString {
        try expect(.string, startingWith: UInt8(ascii: "\""))
        return try scanString()
    }

    /// Reads the string on whose opening quote the reader stands, checking all of it.
    mutating func scanString() throws(ReadError) -> ScannedString {
        let start = position + 1
        var index = start
        var isPlain = true
        while true {
            index = firstSpecial(from: index)
            guard index < end else { throw ReadError(.unexpectedEnd, offset: index) }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                guard index - start <= limits.stringBytes else {
                    throw ReadError(.stringTooLong, offset: position)
                }
                advance(to: index + 1)
                return ScannedString(content: start..<index, isPlain: isPlain)
            case UInt8(ascii: "\\"):
                isPlain = false
                index = try endOfEscape(at: index)
            case 0x00..<0x20:
                throw ReadError(.controlCharacter, offset: index)
            default:
                guard let next = endOfUTF8Scalar(at: index) else {
                    throw ReadError(.invalidUTF8, offset: index)
                }
                index = next
            }
        }
    }

    /// The first byte from `index` on that is a quote, a backslash, a control character or not ASCII.
    @inline(__always)
    private func firstSpecial(from index: Int) -> Int {
        let raw = unsafe bytes.span.bytes
        var index = index
        while index + 8 <= end {
            let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let special = EightBytes.special(in: UInt64(littleEndian: word))
            guard special == 0 else { return index + special.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < end, bytes[index].isOrdinary { index += 1 }
        return index
    }

    // MARK: - Escapes

    /// Checks the escape that begins at `index` and returns where it ends; a surrogate pair counts as one.
    private func endOfEscape(at index: Int) throws(ReadError) -> Int {
        guard index + 1 < end else { throw ReadError(.unexpectedEnd, offset: end) }
        switch bytes[index + 1] {
        case UInt8(ascii: "u"):
            switch try codeUnit(at: index) {
            case 0xD800..<0xDC00:
                guard index + 7 < end, bytes[index + 6] == UInt8(ascii: "\\"),
                    bytes[index + 7] == UInt8(ascii: "u"),
                    case 0xDC00..<0xE000 = try codeUnit(at: index + 6)
                else { throw ReadError(.loneSurrogate, offset: index) }
                return index + 12
            case 0xDC00..<0xE000: throw ReadError(.loneSurrogate, offset: index)
            default: return index + 6
            }
        case let letter:
            guard letter.unescaped != nil else { throw ReadError(.invalidEscape, offset: index) }
            return index + 2
        }
    }

    /// The code unit of the escape `\uXXXX` that begins at `index`.
    private func codeUnit(at index: Int) throws(ReadError) -> UInt32 {
        guard index + 6 <= end else { throw ReadError(.unexpectedEnd, offset: end) }
        var value: UInt32 = 0
        for offset in 2..<6 {
            guard let digit = bytes[index + offset].hexDigit else {
                throw ReadError(.invalidEscape, offset: index)
            }
            value = value << 4 | digit
        }
        return value
    }

    /// The text of a string that ``scanString()`` has checked.
    func unescape(_ content: Range<Int>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(content.count)
        var index = content.lowerBound
        while index < content.upperBound {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < content.upperBound else {
                text.append(bytes[index])
                index += 1
                continue
            }
            if let byte = bytes[index + 1].unescaped {
                text.append(byte)
                index += 2
                continue
            }
            guard var scalar = try? codeUnit(at: index) else { break }
            index += 6
            if scalar & 0xFC00 == 0xD800, let low = try? codeUnit(at: index) {
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + (low & 0x3FF)
                index += 6
            }
            if let character = Unicode.Scalar(scalar) {
                text.append(contentsOf: UTF8.encode(character) ?? .init())
            }
        }
        return text
    }
}

extension UInt8 {
    /// Whether it stands for itself in a string and nothing needs to be checked.
    fileprivate var isOrdinary: Bool {
        self >= 0x20 && self < 0x80 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
    }

    /// What the letter after a backslash stands for; nil for `u` and for what is no escape.
    fileprivate var unescaped: UInt8? {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): self
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    fileprivate var hexDigit: UInt32? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self) - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(self) - 0x61 + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(self) - 0x41 + 10
        default: nil
        }
    }
}

/// Eight bytes examined at once as one word, the first in its lowest byte.
///
/// Source of the two tests: Sean Anderson, "Bit Twiddling Hacks", "determine if a word has a byte less than n".
private enum EightBytes {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// A word whose lowest set bit lies in the first byte that is not ordinary; 0 when all eight are.
    ///
    /// Bits above the lowest may be wrong, because a borrow travels upwards only.
    @inline(__always)
    static func special(in word: UInt64) -> UInt64 {
        let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let control = (word &- ones &* 0x20) & ~word
        let isQuote = (quote &- ones) & ~quote
        let isBackslash = (backslash &- ones) & ~backslash
        return (control | isQuote | isBackslash | word) & highBits
    }
}
