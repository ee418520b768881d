/// Where a gateway is: scheme, host and port in one canonical text, such as `https://push.example.de` or
/// `https://[2001:db8::1]:8443`.
///
/// Two URLs of the same place give the same origin: host in lower case, default port left out, IPv6 as RFC 5952
/// writes it. A host is a name of letters, digits and hyphens, an IPv4 address in its usual form, or an IPv6 address
/// in brackets; what a resolver might take for an address by another name (`127.1`, `0x7f.1`, `2130706433`) is
/// refused.
package struct GatewayOrigin: Hashable, Sendable {
    /// The canonical text.
    package let text: String
    /// Whether it is `https`; `http` is for trying out, and only where the operator's entry allows it.
    package let isSecure: Bool
    /// The host, an IPv6 address without its brackets.
    package let host: String
    package let port: UInt16

    /// Reads `https://host[:port]`, or the same with `http`; nothing may follow.
    ///
    /// - Parameter text: from the operator, or the beginning of a registration's URL.
    /// - Throws: ``GatewayURLError``.
    package init(_ text: String) throws(GatewayURLError) {
        guard text.utf8.count <= GatewayURL.maximumLength else { throw .tooLong }
        let (scheme, rest) = try Self.splitScheme(text)
        isSecure = scheme == "https"
        guard !rest.utf8.contains(UInt8(ascii: "@")) else { throw .userInfo }
        let (hostText, portText) = try Self.splitPort(rest)
        let host = try Self.canonicalHost(hostText)
        let standard: UInt16 = isSecure ? 443 : 80
        port = try portText.map { text throws(GatewayURLError) in try Self.port(text) } ?? standard
        self.host = host.isBracketed ? String(host.text.dropFirst().dropLast()) : host.text
        self.text = "\(scheme)://\(host.text)" + (port == standard ? "" : ":\(port)")
    }

    /// Whether its host says by itself that it is no place on the internet: `localhost`, or an address that is
    /// loopback, private or the like.
    ///
    /// A name may still resolve to such an address; that is checked when a connection is made.
    package var isPrivate: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        guard let address = IPAddress(v4: host[...]) ?? IPAddress(v6: host[...]) else { return false }
        return !address.isPublic
    }

    // MARK: - Parts

    static func splitScheme(_ text: String) throws(GatewayURLError) -> (scheme: String, rest: Substring) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .scheme }
        let scheme = text[..<colon].lowercased()
        guard scheme == "https" || scheme == "http" else { throw .scheme }
        let rest = text[text.utf8.index(after: colon)...]
        guard rest.utf8.starts(with: "//".utf8) else { throw .scheme }
        return (scheme, rest.dropFirst(2))
    }

    private static func splitPort(
        _ text: Substring
    ) throws(GatewayURLError) -> (host: Substring, port: Substring?) {
        var end = text.startIndex
        if text.utf8.first == UInt8(ascii: "[") {
            guard let bracket = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
            end = text.utf8.index(after: bracket)
        } else {
            end = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        }
        guard end < text.endIndex else { return (text, nil) }
        guard text.utf8[end] == UInt8(ascii: ":") else { throw .host }
        return (text[..<end], text[text.utf8.index(after: end)...])
    }

    private static func port(_ text: Substring) throws(GatewayURLError) -> UInt16 {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ Digits.digit($0) != nil }),
            let port = UInt16(text), port > 0
        else { throw .port }
        return port
    }

    private static func canonicalHost(
        _ text: Substring
    ) throws(GatewayURLError) -> (text: String, isBracketed: Bool) {
        if text.utf8.first == UInt8(ascii: "[") {
            guard let address = IPAddress(v6: text.dropFirst().dropLast()) else { throw .host }
            return ("[\(address)]", true)
        }
        let name = text.lowercased()
        guard (1...253).contains(name.utf8.count) else { throw .host }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy({ isLabel($0) }) else { throw .host }
        if let last = labels.last, looksNumeric(last) {
            guard let address = IPAddress(v4: name[...]) else { throw .host }
            return (address.description, false)
        }
        return (name, false)
    }

    /// Source: RFC 1123 §2.1.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.utf8.first != UInt8(ascii: "-")
            && label.utf8.last != UInt8(ascii: "-")
            && label.utf8.allSatisfy { TextRules.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
    }

    /// Whether `inet_aton` may take a host that ends in this label for an address.
    ///
    /// Source: WHATWG URL, "ends in a number checker".
    private static func looksNumeric(_ label: Substring) -> Bool {
        label.utf8.allSatisfy { Digits.digit($0) != nil }
            || label.hasPrefix("0x") && label.utf8.dropFirst(2).allSatisfy { Hexadecimal.value($0) != nil }
    }
}

extension GatewayOrigin: CustomStringConvertible {
    package var description: String { text }
}

/// Why a URL is not accepted as a gateway's.
package enum GatewayURLError: Error, Hashable, Sendable {
    case tooLong
    case scheme
    case userInfo
    case host
    case port
    case queryOrFragment
    case path
}

extension GatewayURLError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong: "is longer than \(GatewayURL.maximumLength) bytes"
        case .scheme: "does not begin with https://"
        case .userInfo: "holds a user name"
        case .host: "has no host that is a name or an address in its usual form"
        case .port: "has a port that is not 1 to 65535"
        case .queryOrFragment: "holds a query or fragment"
        case .path:
            "has a path with empty, dot or percent-encoded segments or other characters than a path has"
        }
    }
}
