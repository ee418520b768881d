import JSON

/// What stands around and between the items of a batch, and how much goes into one.
///
/// ```
///   {"notifications":[ item , item , … ]}
/// ```
///
/// Items are final bytes; a batch is made by copying them behind each other. A notification of a format that is not
/// batched is a body of its own.
package enum BatchFrame {
    /// The most items the interface allows in one batch.
    package static let maximumItems = 100
    /// What every gateway must accept: 256 KB, read as 256,000 bytes, the smaller of its two meanings.
    package static let maximumBytes = 256_000
    /// Bytes around all items.
    package static let framing = prefix.utf8CodeUnitCount + suffix.utf8CodeUnitCount
    /// Bytes between two items: a comma.
    package static let itemFraming = 1

    private static let prefix: StaticString = #"{"notifications":["#
    private static let suffix: StaticString = "]}"

    /// Bytes of a batch of `items` whose own bytes add up to `itemBytes`.
    package static func size(items: Int, itemBytes: Int) -> Int {
        framing + itemBytes + max(items - 1, 0) * itemFraming
    }

    /// Whether an item of `bytes` can be sent at all.
    package static func fits(bytes: Int) -> Bool {
        size(items: 1, itemBytes: bytes) <= maximumBytes
    }

    /// Begins a batch.
    package static func begin(_ output: inout [UInt8]) {
        output.append(prefix)
    }

    /// Adds an item, behind a comma unless it is the first.
    package static func add(_ item: Span<UInt8>, isFirst: Bool, to output: inout [UInt8]) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        output.appendBytes(item)
    }

    /// Ends a batch.
    package static func end(_ output: inout [UInt8]) {
        output.append(suffix)
    }
}
