internal import Push
internal import Sealing

/// Seals an event's content under one pusher's key and writes it in Base64.
///
/// The frame around a content is written once an event, not once a pusher. One lane's own.
struct ContentSealer: ~Copyable {
    private var cipher: Cipher
    private var random = RandomSource()
    private var frame: [UInt8] = []
    /// The event whose content is in `frame`, by its index in the batch.
    private var framedEvent = -1
    private var sealed: [UInt8] = []

    init() throws(SealingError) {
        cipher = try Cipher()
    }

    mutating func beginBatch() {
        framedEvent = -1
    }

    /// Appends Base64(IV ‖ ciphertext ‖ tag).
    ///
    /// - Parameters:
    ///   - content: at most ``PlaintextFrame/maximumPayloadLength`` bytes.
    ///   - index: tells one event of the batch from another.
    ///   - framed: whether the length is hidden.
    ///   - keys: the pusher's.
    ///   - output: where it is appended.
    /// - Throws: ``SealingError`` when the library refuses.
    mutating func append(
        _ content: [UInt8],
        event index: Int,
        framed: Bool,
        under keys: borrowing KeyGeneration,
        to output: inout [UInt8]
    ) throws(SealingError) {
        if framed && framedEvent != index {
            let fits = PlaintextFrame.frame(content.span, into: &frame)
            precondition(fits, "a longer content was a dead letter before")
            framedEvent = index
        }
        sealed.removeAll(keepingCapacity: true)
        try Self.seal(framed ? frame : content, keys, &cipher, &random, &sealed)
        Base64.encode(sealed.span, into: &output)
    }

    private static func seal(
        _ plaintext: [UInt8],
        _ keys: borrowing KeyGeneration,
        _ cipher: inout Cipher,
        _ random: inout RandomSource,
        _ sealed: inout [UInt8]
    ) throws(SealingError) {
        try keys.withKey { key throws(SealingError) in
            try cipher.seal(plaintext.span, under: key, random: &random, into: &sealed)
        }
    }
}
