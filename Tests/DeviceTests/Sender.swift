import JSON
import KeyChains
import Push
import Sealing
import Testing

@testable import Device

/// The other end of a chain, for tests: derives and seals as the service does.
struct Sender: ~Copyable {
    static let secretHex = "f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2"

    private var derivation: ChainDeriver
    private var cipher: Cipher
    private var random = RandomSource()
    private var chain: KeyGeneration
    let keyIdentifier: String?

    init(secret: String = secretHex, month: String = "2023-10", keyIdentifier: String? = "chain-1") throws {
        var derivation = try ChainDeriver()
        let cipher = try Cipher()
        let first = try Self.month(month)
        let secret = try Self.secret(secret)
        let chain = try KeyGeneration(initialSecret: secret, month: first, using: &derivation)
        self.derivation = derivation
        self.cipher = cipher
        self.chain = chain
        self.keyIdentifier = keyIdentifier
    }

    static func secret(_ hex: String = secretHex) throws -> InitialSecret {
        let digits = Array(hex.utf8)
        let secret = InitialSecret(hex: digits.span)
        return try #require(secret)
    }

    static func month(_ text: String) throws -> Month {
        try #require(Month(text))
    }

    /// Seals `text` with the keys of `month`, which must not lie before the last one, and says that it was `claimed`.
    mutating func message(
        _ text: String,
        in month: String,
        claiming claimed: String? = nil,
        format: SealedMessage.Format = .framed
    ) throws -> SealedMessage {
        let ciphertext = try ciphertext(plaintext(text, format), in: month)
        return try SealedMessage(
            month: Array((claimed ?? month).utf8),
            keyIdentifier: format == .framed ? keyIdentifier : nil,
            ciphertext: ciphertext.span,
            format: format
        )
    }

    /// A line of a gateway's record.
    mutating func record(
        _ id: String,
        _ text: String,
        in month: String,
        app: String = "app",
        pushkey: String = "key",
        format: SealedMessage.Format = .framed
    ) throws -> String {
        let ciphertext = String(decoding: try ciphertext(plaintext(text, format), in: month), as: UTF8.self)
        let device = #"{"app_id":"\#(app)","pushkey":"\#(pushkey)","pushkey_ts":1}"#
        let notification =
            switch format {
            case .framed:
                #"{"ciphertext":"\#(ciphertext)","time_message_encrypted":"\#(month)","key_identifier":"\#(keyIdentifier ?? "")","device":\#(device)}"#
            case .unframed: #"{"month":"\#(month)","ciphertext":"\#(ciphertext)","devices":[\#(device)]}"#
            }
        return
            #"{"received_at":"2024-01-01T00:00:00Z","path":"/push/v1/notifyEncrypted/batch","batch":1,"id":"\#(id)","notification":\#(notification)}"#
    }

    /// Base64 of `plaintext` sealed as it is.
    mutating func ciphertext(_ plaintext: [UInt8], in month: String) throws -> [UInt8] {
        try chain.advance(to: Self.month(month), using: &derivation)
        var sealed: [UInt8] = []
        try chain.withKey { key in
            try cipher.setKey(key)
            try cipher.seal(plaintext.span, random: &random, into: &sealed)
        }
        var text: [UInt8] = []
        Base64.encode(sealed.span, into: &text)
        return text
    }

    private func plaintext(_ text: String, _ format: SealedMessage.Format) -> [UInt8] {
        guard format == .framed else { return Array(text.utf8) }
        var frame: [UInt8] = []
        let isFramed = PlaintextFrame.frame(text.utf8.span, into: &frame)
        #expect(isFramed)
        return frame
    }
}
