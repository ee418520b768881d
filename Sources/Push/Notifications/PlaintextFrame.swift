import JSON

/// The frame that hides how long a message is: every plaintext has exactly 1024 bytes.
///
/// ```
///   "PNM1" | n: UInt16 big-endian | n × 0x20 | payload          n = 1024 − 6 − payload.count
/// ```
///
/// Source: A_27610 (gemF_PushNotification).
package enum PlaintextFrame {
    /// Bytes of a frame.
    package static let length = 1024
    /// Bytes before the filler.
    static let headerLength = 6
    /// The longest payload that fits: 1018 bytes.
    package static let maximumPayloadLength = length - headerLength

    private static let magic: InlineArray<4, UInt8> = [0x50, 0x4E, 0x4D, 0x31]
    private static let filler: UInt8 = 0x20
    /// As many as a frame can need, to be copied in one piece: the hot path.
    private static let fillers = [UInt8](repeating: filler, count: maximumPayloadLength)

    /// Replaces the content of `output` by the frame around `payload`; keeps its memory.
    ///
    /// - Returns: false, with `output` empty, if `payload` is longer than ``maximumPayloadLength``.
    package static func frame(_ payload: Span<UInt8>, into output: inout [UInt8]) -> Bool {
        output.removeAll(keepingCapacity: true)
        guard payload.count <= maximumPayloadLength else { return false }
        let fillerLength = maximumPayloadLength - payload.count
        output.reserveCapacity(length)
        for index in magic.indices { output.append(magic[index]) }
        output.append(UInt8(truncatingIfNeeded: fillerLength >> 8))
        output.append(UInt8(truncatingIfNeeded: fillerLength))
        output.append(contentsOf: fillers[..<fillerLength])
        output.appendBytes(payload)
        return true
    }

    /// Where the payload lies in a frame.
    ///
    /// Strict: exactly 1024 bytes, the magic, a filler that fits and is all spaces. Whoever can make another frame
    /// that opens under the key is not the sender we know.
    ///
    /// - Returns: nil if `frame` is none.
    package static func payloadRange(in frame: Span<UInt8>) -> Range<Int>? {
        guard frame.count == length else { return nil }
        for index in magic.indices where frame[index] != magic[index] { return nil }
        let fillerLength = Int(frame[4]) << 8 | Int(frame[5])
        guard fillerLength <= maximumPayloadLength else { return nil }
        let start = headerLength + fillerLength
        for index in headerLength..<start where frame[index] != filler { return nil }
        return start..<length
    }
}
