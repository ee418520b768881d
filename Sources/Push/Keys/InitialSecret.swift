/// The initial shared secret (ISS) of a registration: 32 bytes that the device made and sent once.
///
/// It exists from the parsing of a registration until its first generation is derived, is never stored or logged,
/// prints as `redacted`, and is wiped from memory with its last reference. Source: A_27158, A_27375
/// (gemF_PushNotification).
package struct InitialSecret {
    /// 256 bits.
    package static let byteCount = 32

    private let storage = WipedBytes<32>()

    /// From exactly 64 hexadecimal digits of either case; nil for any other text.
    package init?(hex: Span<UInt8>) {
        guard hex.count == 2 * Self.byteCount else { return nil }
        let sound = storage.withMutableBytes { bytes in
            for index in bytes.indices {
                guard let high = Hexadecimal.value(hex[2 * index]),
                    let low = Hexadecimal.value(hex[2 * index + 1])
                else { return false }
                bytes[index] = high << 4 | low
            }
            return true
        }
        guard sound else { return nil }
    }

    /// From exactly 32 bytes; nil for any other count.
    package init?(bytes: Span<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        storage.withMutableBytes { target in
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    /// Lends the 32 bytes.
    package func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try storage.withBytes(body)
    }
}

extension InitialSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "redacted" }

    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
