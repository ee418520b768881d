import JSON

/// Which interface a gateway speaks; part of its entry on the operator's list.
package enum Dialect: String, Hashable, Sendable, CaseIterable {
    /// Push Gateway API 1.2: batches, padded ciphertext, `key_identifier`.
    case gematik12 = "gematik-1.2"
    /// The concept of December 2024: one message a request, `month`, `devices`, no padding.
    case concept2024 = "concept-2024"

    package init?(_ text: Span<UInt8>) {
        // Read for every notification: no text is made of it.
        switch text.count {
        case Self.gematik12.rawValue.utf8.count: self = .gematik12
        case Self.concept2024.rawValue.utf8.count: self = .concept2024
        default: return nil
        }
        let expected = rawValue.utf8.span
        for index in text.indices where text[index] != expected[index] { return nil }
    }
}

/// The form of a notification's bytes: header `format` on the notifications topic.
package enum NotificationFormat: String, Hashable, Sendable, CaseIterable {
    /// A batch item of `/notifyEncrypted/batch`.
    case gematik12Encrypted = "gematik-1.2-encrypted"
    /// A batch item of `/notify/batch`.
    case gematik12Plain = "gematik-1.2-plain"
    /// A whole request body of the concept's `/notify`.
    case concept2024 = "concept-2024"

    package init?(_ text: Span<UInt8>) {
        // Read for every notification: no text is made of it.
        switch text.count {
        case Self.gematik12Encrypted.rawValue.utf8.count: self = .gematik12Encrypted
        case Self.gematik12Plain.rawValue.utf8.count: self = .gematik12Plain
        case Self.concept2024.rawValue.utf8.count: self = .concept2024
        default: return nil
        }
        let expected = rawValue.utf8.span
        for index in text.indices where text[index] != expected[index] { return nil }
    }

    package var dialect: Dialect {
        switch self {
        case .gematik12Encrypted, .gematik12Plain: .gematik12
        case .concept2024: .concept2024
        }
    }

    /// Whether several go into one request.
    package var isBatched: Bool {
        switch self {
        case .gematik12Encrypted, .gematik12Plain: true
        case .concept2024: false
        }
    }

    /// Whether the plaintext is padded to ``PlaintextFrame/length`` before it is sealed.
    package var isFramed: Bool {
        self == .gematik12Encrypted
    }

    /// Appends the URL that takes notifications of this format, given the URL of the pusher's registration.
    ///
    /// - Parameters:
    ///   - url: a ``GatewayURL`` that fits the dialect, as text.
    ///   - output: where the endpoint is appended.
    package func appendEndpoint(url: Span<UInt8>, to output: inout [UInt8]) {
        output.appendBytes(url)
        switch self {
        case .gematik12Encrypted: output.append(contentsOf: "notifyEncrypted/batch".utf8)
        case .gematik12Plain: output.append(contentsOf: "notify/batch".utf8)
        case .concept2024: break
        }
    }
}
