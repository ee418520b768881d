/// Takes secrets out of librdkafka's texts before anybody sees them.
///
/// librdkafka itself shows no passwords in its logs, but it quotes refused values, and a token callback may quote
/// its configuration. So the values of secret properties are replaced wherever they turn up.
struct Redaction: Sendable {
    private let secrets: [String]

    /// - Parameter secrets: values that must not be shown; those under 4 bytes are left alone, since replacing
    ///   them would garble every text and tell their value all the same.
    init(secrets: [String] = []) {
        self.secrets = secrets.filter { $0.utf8.count >= 4 }
    }

    func scrub(_ text: String) -> String {
        // "Unrecognized sasl.oauthbearer.config beginning at: …" quotes a part of the value.
        if text.contains("oauthbearer.config") {
            return "sasl.oauthbearer.config is refused (text withheld, it may quote the value)"
        }
        var text = text
        for secret in secrets where text.contains(secret) {
            text.replace(secret, with: "redacted")
        }
        return text
    }

    /// Whether a property's value is to be kept out of texts, judged by its name.
    static func isSecret(_ property: String) -> Bool {
        let marks = ["password", "secret", "oauthbearer.config", "token", ".pem", "ssl.key", "jaas"]
        return marks.contains { property.contains($0) }
    }
}
