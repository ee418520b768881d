import Sealing

/// A message as a device gets it; nothing in it is proven until it opens, the month least of all.
package struct SealedMessage: Sendable {
    package enum Format: Sendable {
        /// gematik-1.2: PNM1 in exactly 1404 characters of Base64, with the name of its chain.
        case framed
        /// concept-2024: the content itself, of any length; chains have no names there.
        case unframed
    }

    /// What is called `time_message_encrypted`, in the concept `month`.
    var month: [UInt8]
    var keyIdentifier: String?
    /// IV, ciphertext and tag.
    var sealed: [UInt8]
    var format: Format

    /// Characters of a framed message.
    static let framedLength = 1404

    /// - Parameters:
    ///   - month: as received.
    ///   - keyIdentifier: as received; nil where the format has none.
    ///   - ciphertext: as received, Base64.
    ///   - format: what the message says that it is.
    /// - Throws: ``OpenError/malformedCiphertext``.
    package init(
        month: [UInt8],
        keyIdentifier: String?,
        ciphertext: Span<UInt8>,
        format: Format
    ) throws(OpenError) {
        guard format == .unframed || ciphertext.count == Self.framedLength else { throw .malformedCiphertext }
        var sealed: [UInt8] = []
        guard Base64.decode(ciphertext, into: &sealed) else { throw .malformedCiphertext }
        self.month = month
        self.keyIdentifier = keyIdentifier
        self.sealed = sealed
        self.format = format
    }
}
