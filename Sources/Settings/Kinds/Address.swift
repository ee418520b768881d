/// Where to listen or connect: a host name or address and a port, `127.0.0.1:8080` or `[::1]:8080`.
package struct Address: Sendable, Hashable {
    /// Without the brackets of an IPv6 address.
    package let host: String
    /// 0 lets the system choose, where one listens.
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Nil unless the text is HOST:PORT with a host of printable ASCII and a decimal port.
    package init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = Self.port(text[text.utf8.index(after: colon)...])
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.utf8.contains(UInt8(ascii: ":")) {
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        self.init(host: String(host), port: port)
    }

    private static func port(_ digits: Substring) -> UInt16? {
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return UInt16(digits)
    }
}

extension Address: CustomStringConvertible {
    package var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ValueKind where Value == Address {
    /// HOST:PORT; an IPv6 address stands in brackets.
    package static var address: ValueKind {
        ValueKind(
            placeholder: "HOST:PORT",
            expectation: "a HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080",
            parse: { Address($0) },
            show: { $0.description }
        )
    }
}

extension ValueKind where Value == String {
    /// A URL of one of the schemes, with a host and without spaces or control characters; kept as it was written.
    package static func url(schemes: [String]) -> ValueKind {
        ValueKind(
            placeholder: "URL",
            expectation: "a URL that begins with \(schemes.map { "\($0)://" }.joined(separator: " or "))",
            parse: { text in
                let isClean = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
                let scheme = schemes.first { text.lowercased().hasPrefix("\($0)://") }
                guard isClean, let scheme else { return nil }
                let rest = text.dropFirst(scheme.count + 3)
                return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix(":") ? nil : text
            },
            show: { $0 }
        )
    }
}
