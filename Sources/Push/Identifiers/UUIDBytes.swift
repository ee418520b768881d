import JSON

/// Sixteen bytes in the shape of a UUID: text `8-4-4-4-12`, lower case when written, either case when read.
///
/// Two machine words, so that a pusher's id costs nothing to copy, hash and compare; ordered as its bytes are.
package struct UUIDBytes: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    package var high: UInt64
    /// The last eight bytes, big-endian.
    package var low: UInt64

    /// Bytes of the text form.
    package static let textLength = 36

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// From exactly 16 bytes; nil for any other count.
    package init?(bytes: Span<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(high: 0, low: 0)
        for index in 0..<8 {
            high = high << 8 | UInt64(bytes[index])
            low = low << 8 | UInt64(bytes[index + 8])
        }
    }

    /// From exactly 36 ASCII bytes, hyphens at their four places; nil for any other text.
    ///
    /// Read three times a notification, so eight digits at once.
    package init?(text: Span<UInt8>) {
        guard text.count == Self.textLength, text[8] == UInt8(ascii: "-"), text[13] == UInt8(ascii: "-"),
            text[18] == UInt8(ascii: "-"), text[23] == UInt8(ascii: "-"),
            let first = Hexadecimal.value(Self.digits(text, 0, 4)),
            let second = Hexadecimal.value(Self.digits(text, 9, 14)),
            let third = Hexadecimal.value(Self.digits(text, 19, 24)),
            let fourth = Hexadecimal.value(Self.digits(text, 28, 32))
        else { return nil }
        self.init(high: UInt64(first) << 32 | UInt64(second), low: UInt64(third) << 32 | UInt64(fourth))
    }

    /// Four bytes from each of two places, the first one in the highest byte.
    private static func digits(_ text: Span<UInt8>, _ first: Int, _ second: Int) -> UInt64 {
        var digits: UInt64 = 0
        for index in 0..<4 { digits = digits << 8 | UInt64(text[first + index]) }
        for index in 0..<4 { digits = digits << 8 | UInt64(text[second + index]) }
        return digits
    }

    package init?(_ text: String) {
        self.init(text: text.utf8.span)
    }

    /// Appends the 36 ASCII bytes of the text form.
    ///
    /// Written three times a notification, so in one piece.
    package func appendText(to output: inout [UInt8]) {
        let words: InlineArray<4, UInt64> = [
            Hexadecimal.digits(UInt32(truncatingIfNeeded: high >> 32)),
            Hexadecimal.digits(UInt32(truncatingIfNeeded: high)),
            Hexadecimal.digits(UInt32(truncatingIfNeeded: low >> 32)),
            Hexadecimal.digits(UInt32(truncatingIfNeeded: low)),
        ]
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        for index in 0..<8 {
            let shift = UInt64(56 - 8 * index)
            text[index] = UInt8(truncatingIfNeeded: words[0] >> shift)
            text[index < 4 ? 9 + index : 10 + index] = UInt8(truncatingIfNeeded: words[1] >> shift)
            text[index < 4 ? 19 + index : 20 + index] = UInt8(truncatingIfNeeded: words[2] >> shift)
            text[28 + index] = UInt8(truncatingIfNeeded: words[3] >> shift)
        }
        output.appendBytes(text.span)
    }

    /// Appends the 16 bytes.
    package func appendBytes(to output: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: high >> UInt64(shift)))
        }
        for shift in stride(from: 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: low >> UInt64(shift)))
        }
    }

    private static func isHyphen(_ index: Int) -> Bool {
        index == 8 || index == 13 || index == 18 || index == 23
    }
}

extension UUIDBytes: Comparable {
    package static func < (left: UUIDBytes, right: UUIDBytes) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

extension UUIDBytes: CustomStringConvertible {
    package var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.textLength)
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
