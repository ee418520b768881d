/// Reads one JSON document from bytes, value by value, without building a tree.
///
/// The grammar is RFC 8259 and nothing beside it: no byte order mark, comments, trailing commas, NaN; all text
/// is checked to be UTF-8, also where it is skipped. Between two calls the reader stands on the first byte of
/// the value to come (white space is behind it), so ``peek()`` costs nothing.
///
/// ```swift
/// let id = try Reader.read(bytes) { reader throws(ReadError) in
///     var id: String?
///     try reader.readObject { name, reader throws(ReadError) in
///         switch name {
///         case "id": id = try reader.readString(limit: 64)
///         default: break
///         }
///     }
///     guard let id else { throw reader.missing("id") }
///     return id
/// }
/// ```
///
/// A copy of a reader is a bookmark: it goes on by itself from where it was copied.
package struct Reader {
    let bytes: [UInt8]
    let end: Int
    let limits: Limits
    /// The byte to be read next.
    package internal(set) var position: Int
    /// Where the value read last began; what ``unacceptable(_:)`` points at.
    var valueStart: Int
    var depth = 0
    /// Names met in the objects that are open, the innermost last; only kept to find duplicates.
    var names: [NameMark] = []

    /// - Parameters:
    ///   - bytes: the buffer; the reader shares it, it does not copy.
    ///   - range: the part that holds the document; default all.
    ///   - limits: what is accepted at most.
    /// - Throws: ``ReadError`` when the document is empty or larger than the limit.
    package init(_ bytes: [UInt8], in range: Range<Int>? = nil, limits: Limits = Limits()) throws(ReadError) {
        let range = range ?? 0..<bytes.count
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "the range lies in the buffer")
        guard range.count <= limits.documentBytes else {
            throw ReadError(.documentTooLarge, offset: range.lowerBound)
        }
        self.bytes = bytes
        self.limits = limits
        end = range.upperBound
        position = range.lowerBound
        valueStart = range.lowerBound
        skipWhitespace()
    }

    /// Reads a whole document: `body` takes its value, and nothing may follow it.
    package static func read<Value: ~Copyable>(
        _ bytes: [UInt8],
        in range: Range<Int>? = nil,
        limits: Limits = Limits(),
        _ body: (inout Reader) throws(ReadError) -> Value
    ) throws(ReadError) -> Value {
        var reader = try Reader(bytes, in: range, limits: limits)
        let value = try body(&reader)
        try reader.finish()
        return value
    }

    /// Says that the document ends here.
    ///
    /// - Throws: ``ReadError`` with `trailingBytes` when it does not.
    package func finish() throws(ReadError) {
        guard position >= end else { throw ReadError(.trailingBytes, offset: position) }
    }

    /// The kind of the value to come.
    package func peek() throws(ReadError) -> Kind {
        guard position < end else { throw ReadError(.unexpectedEnd, offset: position) }
        switch bytes[position] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw ReadError(.unexpectedByte, offset: position)
        }
    }

    /// An error that blames the value read last for not being acceptable; `why` holds no content.
    package func unacceptable(_ why: String) -> ReadError {
        ReadError(.unacceptable(why), offset: valueStart)
    }

    /// An error that says that the object read last lacks a member.
    package func missing(_ name: StaticString) -> ReadError {
        ReadError(.missing, offset: valueStart, path: "\(name)")
    }

    // MARK: - For the other parts of the reader

    mutating func expect(_ kind: Kind) throws(ReadError) {
        guard try peek() == kind else { throw ReadError(.expected(kind), offset: position) }
        valueStart = position
    }

    /// The same where the first byte tells the kind.
    @inline(__always)
    mutating func expect(_ kind: Kind, startingWith byte: UInt8) throws(ReadError) {
        guard position < end, bytes[position] == byte else { return try expect(kind) }
        valueStart = position
    }

    /// Steps behind what was read, and behind white space after it.
    @inline(__always)
    mutating func advance(to next: Int) {
        position = next
        skipWhitespace()
    }

    @inline(__always)
    mutating func skipWhitespace() {
        // Documents written by programs have none: one comparison.
        guard position < end, bytes[position] <= 0x20 else { return }
        skipWhitespaceRun()
    }

    private mutating func skipWhitespaceRun() {
        while position < end, bytes[position].isWhitespace { position += 1 }
    }
}

extension UInt8 {
    var isWhitespace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
