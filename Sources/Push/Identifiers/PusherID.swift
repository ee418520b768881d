/// Names a pusher for its whole life: drawn at its first registration, kept when it is registered again.
///
/// The key of its records on the notifications topic, and part of what its sealed chain is bound to.
package struct PusherID: Hashable, Sendable {
    package var uuid: UUIDBytes

    package init(_ uuid: UUIDBytes) {
        self.uuid = uuid
    }

    /// Reads an id; nil unless `text` is the text form of a UUID.
    package init?(text: Span<UInt8>) {
        guard let uuid = UUIDBytes(text: text) else { return nil }
        self.uuid = uuid
    }

    /// From the database; nil unless there are exactly 16 bytes.
    package init?(bytes: Span<UInt8>) {
        guard let uuid = UUIDBytes(bytes: bytes) else { return nil }
        self.uuid = uuid
    }
}

extension PusherID: Comparable {
    package static func < (left: PusherID, right: PusherID) -> Bool {
        left.uuid < right.uuid
    }
}

extension PusherID: CustomStringConvertible {
    package var description: String { uuid.description }
}
