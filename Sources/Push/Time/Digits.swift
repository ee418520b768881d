import JSON

/// Decimal digits in ASCII, read and written without a detour through `String`.
package enum Digits {
    /// The number that exactly `count` digits at `offset` spell; nil if one of them is not an ASCII digit or lies
    /// outside `text`.
    package static func read(_ text: Span<UInt8>, at offset: Int = 0, count: Int) -> Int64? {
        guard offset >= 0, count > 0, count <= 18, offset <= text.count - count else { return nil }
        var value: Int64 = 0
        for index in offset..<(offset + count) {
            guard let digit = digit(text[index]) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The value of one ASCII digit, nil for any other byte.
    static func digit(_ byte: UInt8) -> Int64? {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? Int64(byte - UInt8(ascii: "0")) : nil
    }

    /// Appends `value` with at least `width` digits, zero-padded; a negative value counts as 0.
    static func append(_ value: Int64, width: Int, to output: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<max(width, 1) { divisor *= 10 }
        let value = max(value, 0)
        while value / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }

    /// Appends `value` in decimal, with a minus sign where it needs one.
    package static func append(_ value: Int64, to output: inout [UInt8]) {
        if value < 0 { output.append(UInt8(ascii: "-")) }
        var magnitude = value.magnitude
        // From the last digit to the first, in a place that holds any.
        var text = InlineArray<20, UInt8>(repeating: 0)
        var start = text.count
        repeat {
            start -= 1
            text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10)
            magnitude /= 10
        } while magnitude > 0
        output.appendBytes(text.span.extracting(start..<text.count))
    }
}
