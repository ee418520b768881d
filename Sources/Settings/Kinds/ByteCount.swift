/// A number of bytes, written as `512B`, `256KB`, `1MB` or `2GB`; K is 1024.
package struct ByteCount: Sendable, Hashable, Comparable {
    package let bytes: Int

    package init(_ bytes: Int) {
        self.bytes = bytes
    }

    package static func kilobytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }

    package static func megabytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }

    package static func < (one: ByteCount, other: ByteCount) -> Bool { one.bytes < other.bytes }
}

extension ByteCount: CustomStringConvertible {
    /// The shortest exact form: `256KB`, not `262144B`.
    package var description: String {
        for (name, shift) in Self.units.reversed() where bytes != 0 && bytes & ((1 << shift) - 1) == 0 {
            return "\(bytes >> shift)\(name)"
        }
        return "\(bytes)B"
    }

    fileprivate static let units: [(name: String, shift: Int)] = [
        ("B", 0), ("KB", 10), ("MB", 20), ("GB", 30),
    ]
}

extension ValueKind where Value == ByteCount {
    /// A number of bytes within a range; a bare number counts bytes.
    package static func bytes(in range: ClosedRange<ByteCount>) -> ValueKind {
        ValueKind(
            placeholder: "SIZE",
            expectation: "a size from \(range.lowerBound) to \(range.upperBound), such as 256KB or 4MB",
            parse: { text in ByteCount.parse(text).flatMap { range.contains($0) ? $0 : nil } },
            show: { $0.description }
        )
    }
}

extension ByteCount {
    fileprivate static func parse(_ text: String) -> ByteCount? {
        guard let (number, unit) = Quantity.split(text) else { return nil }
        let name = unit.uppercased().replacing("IB", with: "B")
        guard let shift = name.isEmpty ? 0 : units.first(where: { $0.name == name })?.shift else {
            return nil
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
        return overflow ? nil : ByteCount(bytes)
    }
}

/// A number with a unit behind it, as both sizes and durations are written.
enum Quantity {
    /// Splits `256KB` into 256 and `KB`; nil unless digits come first and the number fits.
    static func split(_ text: String) -> (number: Int, unit: String)? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty, let number = Int(Substring(digits)) else { return nil }
        return (number, String(Substring(text.utf8.dropFirst(digits.count))))
    }
}
