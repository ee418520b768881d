package import Push

/// One notification as a gateway got it.
package struct ReceivedItem: Sendable {
    package var receivedAt: Timestamp
    package var path: String
    /// Counts the requests to this gateway, from 1; items of one request share it.
    package var batch: Int
    /// The item's id; nil where the interface has none (single notifications).
    package var id: String?
    /// The bytes of the JSON that was sent as `notification`; the whole body where there is no such member.
    package var notification: [UInt8]
    /// The keys of its devices, in order.
    package var pushkeys: [String]
}
