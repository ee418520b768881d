/// What a sealed chain is bound to: it opens for this pusher and this month only.
///
/// So whoever can write to the database cannot give one pusher the keys of another, or bring back an older month.
package struct ChainBinding: Equatable, Sendable {
    private let high: UInt64
    private let low: UInt64
    private let month: Int32

    /// - Parameters:
    ///   - pusherHigh: the first eight bytes of the pusher's id, big-endian.
    ///   - pusherLow: the last eight bytes.
    ///   - month: months since 0000-01.
    package init(pusherHigh: UInt64, pusherLow: UInt64, month: Int32) {
        high = pusherHigh
        low = pusherLow
        self.month = month
    }

    /// The associated data: pusher id (16 bytes) and month (4 bytes, big-endian).
    var bytes: InlineArray<20, UInt8> {
        var bytes = InlineArray<20, UInt8>(repeating: 0)
        for index in 0..<8 {
            bytes[index] = UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * index))
            bytes[8 + index] = UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * index))
        }
        for index in 0..<4 { bytes[16 + index] = UInt8(truncatingIfNeeded: month >> Int32(24 - 8 * index)) }
        return bytes
    }
}
