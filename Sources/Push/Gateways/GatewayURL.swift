/// The address that a pusher registered (`data.url`): an origin and a path, both canonical.
///
/// Being sound is one question and answered here: no user name, query, fragment, percent-encoding, empty or dot
/// segments, so that the path that is checked is the path that is sent. Fitting the gateway's dialect is another,
/// ``fits(_:)``, since the dialect comes from the operator's list and not from the URL.
package struct GatewayURL: Hashable, Sendable {
    /// 2048 bytes; ours.
    package static let maximumLength = 2048

    package let origin: GatewayOrigin
    /// Begins with a slash.
    package let path: String

    /// - Parameter text: an absolute URL.
    /// - Throws: ``GatewayURLError``.
    package init(_ text: String) throws(GatewayURLError) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        let rest = try GatewayOrigin.splitScheme(text).rest
        guard !rest.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw .queryOrFragment
        }
        guard let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) else {
            // The origin's own fault first, if it has one.
            _ = try GatewayOrigin(text)
            throw .path
        }
        origin = try GatewayOrigin(String(text[..<slash]))
        path = String(rest[slash...])
        guard Self.isSound(path) else { throw .path }
    }

    /// Origin and path: what is stored and what endpoints are made of.
    package var text: String { origin.text + path }

    /// Whether a gateway of this dialect can be at this path.
    ///
    /// - Parameter dialect: from the gateway's entry.
    /// - Returns: for `gematik-1.2` whether the path ends in `/push/v1/`, to which endpoints are appended; for
    ///   `concept-2024` whether it ends in `/push/v1/notify`, as `/_matrix/push/v1/notify` does.
    package func fits(_ dialect: Dialect) -> Bool {
        switch dialect {
        case .gematik12: path.utf8.reversed().starts(with: "/push/v1/".utf8.reversed())
        case .concept2024: path.utf8.reversed().starts(with: "/push/v1/notify".utf8.reversed())
        }
    }

    /// The URL that takes notifications of `format`.
    package func endpoint(_ format: NotificationFormat) -> String {
        var bytes: [UInt8] = []
        format.appendEndpoint(url: text.utf8.span, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Source: RFC 3986 §3.3, without `pct-encoded`.
    private static func isSound(_ path: String) -> Bool {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .dropFirst()
        for (index, segment) in segments.enumerated() {
            if segment.isEmpty && index < segments.count - 1 { return false }
            if segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) { return false }
            guard
                segment.allSatisfy({ TextRules.isAlphanumeric($0) || "-._~!$&'()*+,;=:@".utf8.contains($0) })
            else {
                return false
            }
        }
        return true
    }
}

extension GatewayURL: CustomStringConvertible {
    package var description: String { text }
}
