/// What fits into one request to a destination, and how long to wait for more.
package struct BatchLimits: Hashable, Sendable {
    /// Items in a request, from 1 to 100; 1 for receivers that take no batches.
    ///
    /// Source: gematik Push Gateway API 1.2, `notifyEncrypted/batch`: 1 to 100 items, 256 KB accepted at least.
    package var maximumItems: Int
    /// Bytes of a request's body.
    package var maximumBytes: Int
    /// Bytes around all items.
    package var framing: Int
    /// Bytes around each item: a comma.
    package var itemFraming: Int
    /// How long an item waits for company.
    package var linger: Duration

    package init(
        maximumItems: Int = 100,
        maximumBytes: Int = 256 * 1024,
        framing: Int = 64,
        itemFraming: Int = 1,
        linger: Duration = .milliseconds(5)
    ) {
        self.maximumItems = min(max(maximumItems, 1), 100)
        self.maximumBytes = max(maximumBytes, 1)
        self.framing = max(framing, 0)
        self.itemFraming = max(itemFraming, 0)
        self.linger = max(linger, .zero)
    }

    /// How large a request of so many items, so many bytes together, is.
    package func requestSize(items: Int, bytes: Int) -> Int {
        framing + items * itemFraming + bytes
    }

    /// Whether an item fits into no request, not even alone.
    package func isOversize(_ bytes: Int) -> Bool {
        bytes > maximumBytes || requestSize(items: 1, bytes: bytes) > maximumBytes
    }

    /// Whether what waits is worth a request without waiting further.
    package func isFull(items: Int, bytes: Int) -> Bool {
        items >= maximumItems || requestSize(items: items, bytes: bytes) >= maximumBytes
    }
}

/// Fills one batch, item by item.
///
/// An item that shared the fate of a whole failed batch travels in smaller company each time (half, a quarter, …, alone): if it is what
/// makes the receiver fail, it soon does so without taking others along.
struct BatchMeter {
    let limits: BatchLimits
    private(set) var count = 0
    private(set) var bytes = 0
    private var cap: Int

    /// A meter that admits at most `cap` items, whatever the limits say: a probe takes one.
    init(_ limits: BatchLimits, cap: Int = .max) {
        self.limits = limits
        self.cap = min(limits.maximumItems, cap)
    }

    /// - Returns: false if the item has to wait for the next batch.
    mutating func admit(bytes itemBytes: Int, sharedFailures: Int) -> Bool {
        let narrowed = min(cap, max(limits.maximumItems >> min(max(sharedFailures, 0), 8), 1))
        guard count < narrowed else { return false }
        guard
            count == 0
                || limits.requestSize(items: count + 1, bytes: bytes + itemBytes) <= limits.maximumBytes
        else {
            return false
        }
        cap = narrowed
        count += 1
        bytes += itemBytes
        return true
    }
}
