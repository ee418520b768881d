/// Which offset of one partition may be committed, while its records end in any order.
///
/// ```
/// registered   7   8   9  12  13  14        (10, 11: transaction markers, or compacted away)
/// ended        ✓   ✓       ✓      ✓
/// committable = 9: one after the longest ended prefix
/// ```
///
/// Invariants:
/// 1. Offsets are registered in rising order; a repeated or earlier one is refused.
/// 2. ``committable`` never goes back and never passes the first record that has not ended.
/// 3. Registering and acknowledging cost O(1); an entry takes eight bytes.
///
/// The window (what is registered behind the first record that has not ended) is bounded by whoever registers: at ``isFull`` it stops
/// reading the partition. It is not refused here, since a record that was read must not be dropped.
package struct OffsetTracker: Sendable {
    /// Names a registered offset.
    ///
    /// Only meaningful for the tracker that gave it.
    package typealias Position = UInt64

    /// How wide the window may become before the partition should not be read further.
    package let limit: Int

    /// `offset << 1 | ended`, in a ring whose size is a power of two.
    private var ring: [UInt64]
    private var head = 0
    /// The position of the entry at `head`.
    private var base: Position = 0
    private var highest: Int64 = -1

    /// How many offsets are in the window: the first that has not ended, and all registered after it.
    package private(set) var count = 0

    /// The offset to commit: of the next record to read after a restart.
    ///
    /// Nil until a first prefix has ended.
    package private(set) var committable: Int64?

    /// - Parameter limit: how wide the window may become, at least 1.
    package init(limit: Int) {
        self.limit = max(limit, 1)
        ring = Array(repeating: 0, count: 64)
    }

    package var isFull: Bool { count >= limit }
    /// Full windows are read again from half on, so that reading does not stop and start at every record.
    package var hasRoomAgain: Bool { count <= limit / 2 }

    /// Whether a position is among those that must end before a full window is read again.
    func isEarly(_ position: Position) -> Bool {
        position >= base && position - base < UInt64(max(count - limit / 2, 0))
    }

    /// Registers `offset` as read and not ended.
    ///
    /// - Returns: nil if it is negative, absurd (2^62 and more) or not above the last one.
    package mutating func register(_ offset: Int64) -> Position? {
        guard offset > highest, offset < 1 << 62 else { return nil }
        highest = offset
        if count == ring.count { grow() }
        ring[(head + count) & (ring.count - 1)] = UInt64(offset) << 1
        count += 1
        return base + UInt64(count - 1)
    }

    /// Marks a registered offset as ended.
    ///
    /// - Returns: true if ``committable`` moved.
    @discardableResult
    package mutating func acknowledge(_ position: Position) -> Bool {
        guard position >= base, position - base < UInt64(count) else { return false }
        ring[(head + Int(position - base)) & (ring.count - 1)] |= 1
        var moved = false
        while count > 0, ring[head] & 1 == 1 {
            committable = Int64(ring[head] >> 1) + 1
            head = (head + 1) & (ring.count - 1)
            base += 1
            count -= 1
            moved = true
        }
        return moved
    }

    private mutating func grow() {
        var larger: [UInt64] = Array(repeating: 0, count: ring.count * 2)
        for index in 0..<count { larger[index] = ring[(head + index) & (ring.count - 1)] }
        ring = larger
        head = 0
    }
}
