/// The key-encryption keys by id; the first is the active one, under which new chains are sealed.
///
/// Text, one key a line; `#` begins a comment, blank lines are skipped:
///
/// ```
/// # rotated yearly: a random IV is good for 2^32 chains under one key
/// 2027-01 <64 hexadecimal digits>
/// 2026-01 <64 hexadecimal digits>
/// ```
package struct KeyRing: ~Copyable {
    /// The ids in the order of the file.
    package let ids: [String]
    /// All keys one behind the other, in the same order.
    private let keys: SecretBytes

    /// Reads the text of a key file.
    ///
    /// - Throws: the first ``KeyFileFault``.
    package init(parsing text: Span<UInt8>) throws(KeyFileFault) {
        var ids: [String] = []
        // A key takes more than 64 characters, so there are no more keys than that.
        var keys = SecretBytes(count: text.count / (2 * Cipher.keyLength) * Cipher.keyLength)
        var number = 0
        var start = 0
        while start < text.count {
            number += 1
            var end = start
            while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
            let line = text.extracting(start..<end)
            start = end + 1
            guard let key = try KeyLine(line, number: number) else { continue }
            guard !ids.contains(key.id) else { throw .malformedLine(number, .duplicate) }
            guard Self.read(line.extracting(key.digits), keyAt: ids.count, &keys) else {
                throw .malformedLine(number, .digits)
            }
            ids.append(key.id)
        }
        guard !ids.isEmpty else { throw .noKey }
        self.ids = ids
        self.keys = keys
    }

    /// The id of the key under which new chains are sealed.
    package var activeID: String { ids[0] }

    package func contains(_ id: String) -> Bool { ids.contains(id) }

    /// Lends the key of that id, 32 bytes.
    ///
    /// - Throws: ``SealingError/unknownKey(_:)`` when there is none.
    package borrowing func withKey<R: ~Copyable>(
        _ id: String,
        _ body: (Span<UInt8>) throws(SealingError) -> R
    ) throws(SealingError) -> R {
        guard let index = ids.firstIndex(of: id) else { throw .unknownKey(id) }
        return try keys.withBytes { keys throws(SealingError) in
            try body(keys.extracting(index * Cipher.keyLength..<(index + 1) * Cipher.keyLength))
        }
    }

    private static func read(_ digits: Span<UInt8>, keyAt index: Int, _ keys: inout SecretBytes) -> Bool {
        var key = SecretBytes(count: Cipher.keyLength)
        guard key.withMutableBytes({ key in Hex.decode(digits, into: &key) }) else { return false }
        key.withBytes { key in
            keys.withMutableBytes { keys in
                for offset in 0..<key.count { keys[index * Cipher.keyLength + offset] = key[offset] }
            }
        }
        return true
    }
}

/// One line of a key file that holds a key.
struct KeyLine {
    let id: String
    /// Where the key's digits are written in the line.
    let digits: Range<Int>

    /// - Returns: nil for a blank line or a comment.
    init?(_ line: Span<UInt8>, number: Int) throws(KeyFileFault) {
        let words = Self.words(of: line)
        guard let first = words.first, line[first.lowerBound] != UInt8(ascii: "#") else { return nil }
        guard words.count == 2 else { throw .malformedLine(number, .shape) }
        guard let id = Self.id(line.extracting(first)) else { throw .malformedLine(number, .id) }
        self.id = id
        digits = words[1]
    }

    /// The id, if it may be one: it stands in every row that it seals, in logs and in commands.
    static func id(_ text: Span<UInt8>) -> String? {
        guard (1...64).contains(text.count) else { return nil }
        var id = ""
        for index in 0..<text.count {
            switch text[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                id.unicodeScalars.append(Unicode.Scalar(text[index]))
            default: return nil
            }
        }
        return id
    }

    private static func words(of line: Span<UInt8>) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var index = 0
        while index < line.count {
            let start = index
            while index < line.count, !isBlank(line[index]) { index += 1 }
            if index > start { words.append(start..<index) }
            while index < line.count, isBlank(line[index]) { index += 1 }
        }
        return words
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
