/// Hexadecimal text, two digits a byte, lower case when written, either case when read.
package enum Hex {
    /// Appends the digits of `bytes`, as ASCII.
    package static func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        output.reserveCapacity(output.count + 2 * bytes.count)
        for index in 0..<bytes.count {
            output.append(digit(bytes[index] >> 4))
            output.append(digit(bytes[index] & 0x0F))
        }
    }

    /// The digits of `bytes`.
    package static func text(_ bytes: Span<UInt8>) -> String {
        var output: [UInt8] = []
        encode(bytes, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Writes the bytes that `text` stands for.
    ///
    /// - Returns: false unless `text` is exactly two hexadecimal digits for each byte of `output`; what is in `output` then
    ///   means nothing.
    package static func decode(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Bool {
        guard text.count == 2 * output.count else { return false }
        for index in 0..<output.count {
            guard let high = value(text[2 * index]), let low = value(text[2 * index + 1]) else {
                return false
            }
            output[index] = high << 4 | low
        }
        return true
    }

    /// The bytes that `text` stands for; nil when it is no whole number of pairs of hexadecimal digits.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        var output = [UInt8](repeating: 0, count: text.count / 2)
        var span = output.mutableSpan
        return decode(text, into: &span) ? output : nil
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
