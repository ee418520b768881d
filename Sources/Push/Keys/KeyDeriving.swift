/// HKDF-SHA256 with an empty salt, as whoever owns the cryptography provides it.
package protocol KeyDeriving: ~Copyable {
    /// Derives 64 bytes: the month's shared secret (32) followed by its AES-256-GCM key (32).
    ///
    /// - Parameters:
    ///   - secret: 32 bytes: the initial secret, or the shared secret of the month before.
    ///   - info: the seven ASCII bytes `yyyy-MM` of the month to derive.
    ///   - output: exactly 64 bytes, all of which are written; does not overlap `secret`.
    /// - Throws: ``KeyChainError/derivationFailed`` if the library refuses.
    ///
    /// Source: A_27157, A_27158-01 (gemF_PushNotification); RFC 5869.
    mutating func derive(
        secret: Span<UInt8>,
        info: Span<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) throws(KeyChainError)
}

/// Why a key chain did not move.
package enum KeyChainError: Error, Hashable, Sendable {
    /// The target lies further ahead than one may step: a broken clock, or a gateway that lies about the month. Not
    /// retriable.
    case tooFarAhead(from: Month, to: Month, limit: Int)
    /// The library that derives keys refused.
    case derivationFailed

    package var isRetriable: Bool {
        switch self {
        case .tooFarAhead: false
        case .derivationFailed: true
        }
    }
}

extension KeyChainError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooFarAhead(let from, let to, let limit):
            "month \(to) is more than \(limit) steps ahead of the chain's month \(from)"
        case .derivationFailed: "the key derivation failed"
        }
    }
}
