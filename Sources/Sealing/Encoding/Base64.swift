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
    /// Twelve bits at a time through a table of character pairs: two look-ups for three bytes.
    package static func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        let start = output.count
        let whole = bytes.count / 3
        output.append(contentsOf: repeatElement(0, count: encodedLength(bytes.count)))
        unsafe output.withUnsafeMutableBytes { output in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe pairs.withUnsafeBufferPointer { pairs in
                    var from = 0
                    var to = start
                    for _ in 0..<whole {
                        // In bounds: `whole` groups of three were counted, and four characters reserved for each.
                        let high = unsafe Int(bytes[from]) << 4 | Int(bytes[from + 1]) >> 4
                        let low = unsafe (Int(bytes[from + 1]) & 0x0F) << 8 | Int(bytes[from + 2])
                        let quad = unsafe UInt32(pairs[high]) | UInt32(pairs[low]) << 16
                        unsafe output.storeBytes(of: quad.littleEndian, toByteOffset: to, as: UInt32.self)
                        from += 3
                        to += 4
                    }
                }
            }
        }
        encodeRest(bytes, from: whole * 3, into: &output)
    }

    /// The last one or two bytes, padded.
    private static func encodeRest(_ bytes: Span<UInt8>, from index: Int, into output: inout [UInt8]) {
        guard index < bytes.count else { return }
        let hasTwo = index + 1 < bytes.count
        let value = Int(bytes[index]) << 16 | (hasTwo ? Int(bytes[index + 1]) << 8 : 0)
        let end = output.count
        output[end - 4] = alphabet[value >> 18]
        output[end - 3] = alphabet[value >> 12 & 0x3F]
        output[end - 2] = hasTwo ? alphabet[value >> 6 & 0x3F] : UInt8(ascii: "=")
        output[end - 1] = UInt8(ascii: "=")
    }

    /// Appends the bytes that `text` stands for.
    ///
    /// Strict: whole groups of four, padding where it belongs and only there, no white space, and no bits that would be lost.
    ///
    /// - Returns: false when `text` is anything else; `output` is then as it was.
    package static func decode(_ text: Span<UInt8>, into output: inout [UInt8]) -> Bool {
        guard text.count % 4 == 0 else { return false }
        let start = output.count
        var padding = 0
        while padding < 2, padding < text.count, text[text.count - 1 - padding] == UInt8(ascii: "=") {
            padding += 1
        }
        output.reserveCapacity(start + text.count / 4 * 3)
        var bits: UInt32 = 0
        var waiting: UInt32 = 0
        for index in 0..<text.count - padding {
            let value = values[Int(text[index])]
            guard value < 64 else {
                output.removeLast(output.count - start)
                return false
            }
            bits = bits << 6 | UInt32(value)
            waiting += 6
            if waiting >= 8 {
                waiting -= 8
                output.append(UInt8(truncatingIfNeeded: bits >> waiting))
            }
        }
        guard bits & (1 << waiting - 1) == 0 else {
            output.removeLast(output.count - start)
            return false
        }
        return true
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
