/// Base64 in the standard alphabet with padding.
///
/// Source: RFC 4648 §4.
package enum Base64 {
    /// How many characters `count` bytes become.
    package static func encodedLength(_ count: Int) -> Int {
        (count + 2) / 3 * 4
    }

    /// Appends the text for `bytes`, as ASCII.
    ///
    /// Twelve bits at a time through a table of character pairs, and six bytes in one word: four look-ups for eight characters.
    package static func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        let start = output.count
        let length = encodedLength(bytes.count)
        output.append(contentsOf: repeatElement(0, count: length))
        let encoded = unsafe output.withUnsafeMutableBytes { output in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe pairs.withUnsafeBufferPointer { pairs in
                    guard let source = bytes.baseAddress, let target = output.baseAddress,
                        let pairs = pairs.baseAddress
                    else {
                        return 0
                    }
                    return unsafe encodeWords(source, bytes.count, pairs, into: target + start)
                }
            }
        }
        encodeRest(bytes, from: encoded, into: &output, at: start + encoded / 3 * 4)
    }

    /// Encodes groups of six bytes as long as eight can be loaded at once.
    ///
    /// The target has room for the text of all `count` bytes.
    ///
    /// - Returns: how many bytes are encoded.
    private static func encodeWords(
        _ source: UnsafeRawPointer,
        _ count: Int,
        _ pairs: UnsafePointer<UInt16>,
        into target: UnsafeMutableRawPointer
    ) -> Int {
        var from = 0
        var to = 0
        while count &- from >= 8 {
            let word = unsafe UInt64(bigEndian: source.loadUnaligned(fromByteOffset: from, as: UInt64.self))
            var text = unsafe UInt64(pairs[Int(truncatingIfNeeded: word >> 52)])
            unsafe text |= UInt64(pairs[Int(truncatingIfNeeded: word >> 40 & 0xFFF)]) << 16
            unsafe text |= UInt64(pairs[Int(truncatingIfNeeded: word >> 28 & 0xFFF)]) << 32
            unsafe text |= UInt64(pairs[Int(truncatingIfNeeded: word >> 16 & 0xFFF)]) << 48
            unsafe target.storeBytes(of: text.littleEndian, toByteOffset: to, as: UInt64.self)
            from &+= 6
            to &+= 8
        }
        return from
    }

    /// The last groups of three, and one or two bytes more, padded.
    private static func encodeRest(
        _ bytes: Span<UInt8>,
        from start: Int,
        into output: inout [UInt8],
        at position: Int
    ) {
        var index = start
        var position = position
        while index < bytes.count {
            let known = min(3, bytes.count - index)
            var value = 0
            for offset in 0..<3 { value = value << 8 | (offset < known ? Int(bytes[index + offset]) : 0) }
            output[position] = alphabet[value >> 18]
            output[position + 1] = alphabet[value >> 12 & 0x3F]
            output[position + 2] = known > 1 ? alphabet[value >> 6 & 0x3F] : UInt8(ascii: "=")
            output[position + 3] = known > 2 ? alphabet[value & 0x3F] : UInt8(ascii: "=")
            index += 3
            position += 4
        }
    }

    /// Appends the bytes that `text` stands for.
    ///
    /// Strict: whole groups of four, padding where it belongs and only there, no white space, and no bits that would be lost.
    ///
    /// - Returns: false when `text` is anything else; `output` is then as it was.
    package static func decode(_ text: Span<UInt8>, into output: inout [UInt8]) -> Bool {
        guard text.count % 4 == 0 else { return false }
        let start = output.count
        output.reserveCapacity(start + text.count / 4 * 3)
        let values = Self.values
        var index = 0
        while index < text.count {
            let isLast = index + 4 == text.count
            let padding = isLast ? paddingLength(text) : 0
            var value: UInt32 = 0
            var refused: UInt8 = 0
            for offset in 0..<4 - padding {
                let digit = values[Int(text[index + offset])]
                refused |= digit
                value |= UInt32(digit) << UInt32(18 - 6 * offset)
            }
            // Digits are below 64, and bits that reach into a byte that is not there would be lost.
            guard refused < 64, value & (1 << UInt32(8 * padding) - 1) == 0 else {
                output.removeLast(output.count - start)
                return false
            }
            output.append(UInt8(truncatingIfNeeded: value >> 16))
            if padding < 2 { output.append(UInt8(truncatingIfNeeded: value >> 8)) }
            if padding < 1 { output.append(UInt8(truncatingIfNeeded: value)) }
            index += 4
        }
        return true
    }

    private static func paddingLength(_ text: Span<UInt8>) -> Int {
        guard text[text.count - 1] == UInt8(ascii: "=") else { return 0 }
        return text[text.count - 2] == UInt8(ascii: "=") ? 2 : 1
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// For each twelve bits the two characters, the first in the low byte.
    private static let pairs: [UInt16] = (0..<4096).map { bits in
        UInt16(alphabet[bits >> 6]) | UInt16(alphabet[bits & 0x3F]) << 8
    }

    /// For each byte its six bits; 255 for what is not in the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
