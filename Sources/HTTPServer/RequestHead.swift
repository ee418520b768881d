/// A request line with its header lines, and the place of each part in the bytes that came.
///
/// libmicrohttpd is lenient where leniency is dangerous: a line may end without CR, a header may be folded, two lengths may
/// contradict each other. Another server on the way may read the same bytes differently, and then the rest of one client's request
/// becomes the start of another's (request smuggling). ``fault`` finds what can be read in two ways; such a request is answered 400,
/// and the connection is closed, so that nothing after it is read as a request.
struct RequestHead: Sendable {
    /// A part of the request, with its offset from the start of the request line.
    struct Part: Sendable {
        var text: String
        var offset: Int
        /// Bytes up to the end that libmicrohttpd saw.
        var count: Int

        var end: Int { offset + count }
    }

    var method: Part
    var target: Part
    var version: Part
    var headers: [(name: Part, value: Part)]
    /// All bytes, from the request line to the blank line included.
    var size: Int

    enum Fault: Error, Equatable {
        case lineEnds
        case headerName
        case headerValue
        case framing
        case host
        case target
    }

    /// What makes the request ambiguous; nil when it is in order.
    ///
    /// Sources: RFC 9112 §2.2, §3.2, §5.1, §5.2, §6.1, §6.3.
    var fault: Fault? {
        if !hasStrictLines { return .lineEnds }
        if !target.text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) { return .target }
        for (name, value) in headers {
            if !RequestHead.isToken(name.text) { return .headerName }
            if !value.text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) { return .headerValue }
        }
        if !hasOneLength { return .framing }
        return values(of: "host").count > 1 ? .host : nil
    }

    /// The declared size of the body; nil for a chunked one.
    var contentLength: Int? {
        values(of: "transfer-encoding").isEmpty ? Int(values(of: "content-length").first ?? "0") : nil
    }

    /// Each part is where it must be if every line ends in CR LF, no line is folded, and nothing was left out.
    ///
    /// The parser writes its ends into the buffer that it read into and gives out places in it; a folded header is moved elsewhere.
    private var hasStrictLines: Bool {
        guard method.offset == 0, target.offset == method.end + 1, version.offset == target.end + 1 else {
            return false
        }
        var end = version.end
        for (name, value) in headers {
            guard name.offset == end + 2, value.offset > name.end else { return false }
            end = value.end
        }
        return size == end + 4
    }

    /// At most one of `Content-Length` and `Transfer-Encoding`, once, and in its plainest form.
    private var hasOneLength: Bool {
        let lengths = values(of: "content-length")
        let encodings = values(of: "transfer-encoding")
        guard lengths.count + encodings.count <= 1 else { return false }
        if let length = lengths.first {
            return !length.isEmpty && length.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
                && Int(length) != nil
        }
        guard let encoding = encodings.first else { return true }
        return version.text == "HTTP/1.1" && encoding.lowercased() == "chunked"
    }

    private func values(of name: String) -> [String] {
        headers.lazy.filter { HeaderField($0.name.text, "").isNamed(name) }.map(\.value.text)
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
