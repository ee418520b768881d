/// What stands around and between the items of a batch, and how much goes into one.
///
/// ```
///   {"notifications":[ item , item , … ]}
/// ```
///
/// Items are final bytes; a batch is made by copying them behind each other. One that is not batched is its own body.
package enum BatchFrame {
    /// The most items the interface allows in one batch.
    package static let maximumItems = 100
    /// What every gateway must accept: 256 KB, read as 256,000 bytes, the smaller of its two meanings.
    package static let maximumBytes = 256_000

    private static let prefix: StaticString = #"{"notifications":["#
    private static let suffix: StaticString = "]}"

    /// Bytes of a batch of `items` whose own bytes add up to `itemBytes`.
    package static func size(items: Int, itemBytes: Int) -> Int {
        prefix.utf8CodeUnitCount + itemBytes + max(items - 1, 0) + suffix.utf8CodeUnitCount
    }

    /// Whether a batch of `items` whose own bytes add up to `itemBytes` has room for one more of `next` bytes.
    package static func hasRoom(items: Int, itemBytes: Int, next: Int) -> Bool {
        items < maximumItems && size(items: items + 1, itemBytes: itemBytes + next) <= maximumBytes
    }

    /// Whether an item of `bytes` can be sent at all.
    package static func fits(bytes: Int) -> Bool {
        hasRoom(items: 0, itemBytes: 0, next: bytes)
    }

    /// Begins a batch.
    package static func begin(_ output: inout [UInt8]) {
        append(prefix, to: &output)
    }

    /// Adds an item, behind a comma unless it is the first.
    package static func add(_ item: [UInt8], isFirst: Bool, to output: inout [UInt8]) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        output.append(contentsOf: item)
    }

    /// Ends a batch.
    package static func end(_ output: inout [UInt8]) {
        append(suffix, to: &output)
    }

    private static func append(_ text: StaticString, to output: inout [UInt8]) {
        text.withUTF8Buffer { unsafe output.append(contentsOf: $0) }
    }
}
