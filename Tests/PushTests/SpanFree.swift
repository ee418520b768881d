@testable import Push

// The macros of the testing library cannot take calls with spans apart; these take arrays and text.

extension PlaintextFrame {
    static func framed(_ payload: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = [1, 2, 3]
        return frame(payload.span, into: &output) ? output : (output.isEmpty ? nil : output)
    }

    static func range(_ frame: [UInt8]) -> Range<Int>? {
        payloadRange(in: frame.span)
    }
}

extension InitialSecret {
    init?(text: String) {
        self.init(hex: text.utf8.span)
    }
}

extension UUIDBytes {
    init?(_ bytes: [UInt8]) {
        self.init(bytes: bytes.span)
    }

    init?(textBytes: [UInt8]) {
        self.init(text: textBytes.span)
    }
}

extension NotificationID {
    init(digest: [UInt8]) {
        self.init(digest: digest.span)
    }

    static func input(_ source: String, _ event: String, _ pusher: PusherID) -> [UInt8] {
        var output: [UInt8] = []
        appendDigestInput(source: source.utf8.span, event: event.utf8.span, pusher: pusher, to: &output)
        return output
    }
}

extension Base64Text {
    static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8.span)
    }
}

/// The bytes of a span, to be kept.
func bytes(_ span: Span<UInt8>) -> [UInt8] {
    span.indices.map { span[$0] }
}
