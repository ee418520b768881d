import JSON

/// Names one notification: the same event for the same pusher gives the same id, over every retry, crash and replay.
///
/// A UUID of version 8 (RFC 9562 §5.8), variant 10, made from the first 16 bytes of a SHA-256 digest. The hashing is
/// the caller's; the input, on which the ids of a whole operation depend, is defined here and never changes:
///
/// | field | bytes |
/// |---|---|
/// | length of source | UInt32, big-endian |
/// | source | CloudEvents `source`, UTF-8 |
/// | length of event id | UInt32, big-endian |
/// | event id | CloudEvents `id`, UTF-8 |
/// | length of pusher id | UInt32, big-endian: 16 |
/// | pusher id | 16 bytes |
package struct NotificationID: Hashable, Sendable {
    package var uuid: UUIDBytes

    package init(_ uuid: UUIDBytes) {
        self.uuid = uuid
    }

    /// - Parameter digest: the 32 bytes of a SHA-256 digest over ``appendDigestInput(source:event:pusher:to:)``.
    /// - Precondition: `digest` has 32 bytes.
    package init(digest: Span<UInt8>) {
        precondition(digest.count == 32, "a SHA-256 digest has 32 bytes")
        var uuid = UUIDBytes(high: 0, low: 0)
        for index in 0..<8 {
            uuid.high = uuid.high << 8 | UInt64(digest[index])
            uuid.low = uuid.low << 8 | UInt64(digest[index + 8])
        }
        uuid.high = uuid.high & ~0xF000 | 0x8000
        uuid.low = uuid.low & ~(0b11 << 62) | 0b10 << 62
        self.uuid = uuid
    }

    /// Reads an id; nil unless `text` is the text form of a UUID, of whatever version: ids also come from other
    /// senders.
    package init?(text: Span<UInt8>) {
        guard let uuid = UUIDBytes(text: text) else { return nil }
        self.uuid = uuid
    }

    /// Appends what is hashed for the id of `event` of `source` for `pusher`.
    package static func appendDigestInput(
        source: Span<UInt8>,
        event: Span<UInt8>,
        pusher: PusherID,
        to output: inout [UInt8]
    ) {
        appendField(source, to: &output)
        appendField(event, to: &output)
        appendLength(16, to: &output)
        pusher.uuid.appendBytes(to: &output)
    }

    private static func appendField(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        appendLength(UInt32(clamping: bytes.count), to: &output)
        output.appendBytes(bytes)
    }

    private static func appendLength(_ length: UInt32, to output: inout [UInt8]) {
        for shift in stride(from: 24, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: length >> UInt32(shift)))
        }
    }
}

extension NotificationID: CustomStringConvertible {
    package var description: String { uuid.description }
}
