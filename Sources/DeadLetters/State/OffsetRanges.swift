/// A set of offsets, as ranges that neither touch nor overlap, in order: what PostgreSQL calls an int8multirange.
///
/// `{[0,5),[7,8)}`; 100,000 letters in a row are one range.
package struct OffsetRanges: Hashable, Sendable {
    package private(set) var ranges: [Range<Int64>] = []

    package init() {}

    package var isEmpty: Bool { ranges.isEmpty }

    /// How many offsets there are in it.
    package var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    package func contains(_ offset: Int64) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(offset)
    }

    /// Adds one offset; cheap when it comes behind all others, as when a partition is read.
    package mutating func insert(_ offset: Int64) {
        guard offset < .max else { return }
        guard let last = ranges.last, last.upperBound >= offset else {
            ranges.append(offset..<offset + 1)
            return
        }
        if last.upperBound == offset {
            ranges[ranges.count - 1] = last.lowerBound..<offset + 1
        } else if !contains(offset) {
            insertInside(offset)
        }
    }

    private mutating func insertInside(_ offset: Int64) {
        let place = ranges.firstIndex { $0.lowerBound > offset } ?? ranges.count
        var added = offset..<offset + 1
        var (first, last) = (place, place)
        if place > 0, ranges[place - 1].upperBound == offset {
            added = ranges[place - 1].lowerBound..<added.upperBound
            first -= 1
        }
        if place < ranges.count, ranges[place].lowerBound == offset + 1 {
            added = added.lowerBound..<ranges[place].upperBound
            last += 1
        }
        ranges.replaceSubrange(first..<last, with: [added])
    }

    // MARK: - PostgreSQL's text

    /// Source: PostgreSQL 15 §8.17.5.
    package var text: String {
        "{" + ranges.map { "[\($0.lowerBound),\($0.upperBound))" }.joined(separator: ",") + "}"
    }

    /// Reads what the database writes of an int8multirange; nil for anything else, an open end included.
    package init?(text: String) {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
        let inner = text.dropFirst().dropLast()
        if inner.isEmpty { return }
        var numbers: [Int64] = []
        for piece in inner.utf8.split(whereSeparator: { "[,)".utf8.contains($0) }) {
            guard let number = Int64(Substring(piece)) else { return nil }
            numbers.append(number)
        }
        guard numbers.count % 2 == 0 else { return nil }
        for index in stride(from: 0, to: numbers.count, by: 2) {
            let (low, high) = (numbers[index], numbers[index + 1])
            guard low < high, ranges.last.map({ $0.upperBound < low }) ?? true else { return nil }
            ranges.append(low..<high)
        }
    }
}
