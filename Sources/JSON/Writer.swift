/// Writes JSON as bytes, compactly, setting commas by itself.
///
/// It keeps one fact beside its buffer: whether the next value must be preceded by a comma. So it is as cheap as
/// appending by hand, and whoever opens an object must close it and name its members; that is not checked.
///
/// ```swift
/// var writer = Writer()
/// writer.object { writer in
///     writer.member("id", id)
///     writer.name("devices")
///     writer.array { writer in writer.raw(device) }
/// }
/// send(writer.bytes)
/// ```
package struct Writer: Sendable {
    /// What is written so far.
    package private(set) var bytes: [UInt8]
    private var needsComma = false

    /// - Parameter bytes: what comes before the document, and the buffer to reuse; default nothing.
    package init(appendingTo bytes: consuming [UInt8] = []) {
        self.bytes = bytes
    }

    /// Empties the writer for the next document but keeps its memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Ends a line of newline-delimited JSON: the next value begins a new document.
    package mutating func endLine() {
        bytes.append(0x0A)
        needsComma = false
    }

    /// What `write` writes, as a text.
    package static func text(_ write: (inout Writer) -> Void) -> String {
        var writer = Writer()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    // MARK: - Containers

    package mutating func object<Failure: Error>(
        _ body: (inout Writer) throws(Failure) -> Void
    ) throws(Failure) {
        beginObject()
        try body(&self)
        endObject()
    }

    package mutating func array<Failure: Error>(
        _ body: (inout Writer) throws(Failure) -> Void
    ) throws(Failure) {
        beginArray()
        try body(&self)
        endArray()
    }

    package mutating func beginObject() {
        beginValue()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    package mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func beginArray() {
        beginValue()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    package mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// The name of the member whose value is written next: a literal without characters that need an escape.
    package mutating func name(_ name: StaticString) {
        beginValue()
        needsComma = false
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { literal in
            assert(unsafe literal.allSatisfy { !$0.needsEscape }, "a literal name needs no escape")
            unsafe bytes.append(contentsOf: literal)
        }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// The name of the member whose value is written next, any text.
    package mutating func name(escaping name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: - Values

    package mutating func string(_ value: String) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        bytes.appendEscaped(value)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string given as UTF-8; what is no UTF-8 in it is replaced by U+FFFD.
    package mutating func string(utf8 value: [UInt8]) {
        guard UTF8Form.isValid(value.span) else { return string(String(decoding: value, as: UTF8.self)) }
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        bytes.appendEscaped(utf8: value)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func integer(_ value: Int64) {
        beginValue()
        bytes.appendDecimal(value)
    }

    /// A number as briefly as it can be written without loss; null if it is not finite.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        bytes.append(contentsOf: value.description.utf8)
    }

    package mutating func bool(_ value: Bool) {
        beginValue()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    package mutating func null() {
        beginValue()
        bytes.append(contentsOf: "null".utf8)
    }

    /// A value that is JSON already, as it is.
    package mutating func raw(_ value: [UInt8]) {
        beginValue()
        bytes.append(contentsOf: value)
    }

    /// A value that is JSON already, a part of a buffer, as it is.
    package mutating func raw(_ buffer: [UInt8], in range: Range<Int>) {
        beginValue()
        bytes.append(contentsOf: buffer[range])
    }

    private mutating func beginValue() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}

extension Writer {
    package mutating func member(_ name: StaticString, _ value: String) {
        self.name(name)
        string(value)
    }

    package mutating func member(_ name: StaticString, utf8 value: [UInt8]) {
        self.name(name)
        string(utf8: value)
    }

    package mutating func member(_ name: StaticString, _ value: Int64) {
        self.name(name)
        integer(value)
    }

    package mutating func member(_ name: StaticString, _ value: Int) {
        self.name(name)
        integer(Int64(value))
    }

    package mutating func member(_ name: StaticString, _ value: Double) {
        self.name(name)
        double(value)
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    package mutating func member(_ name: StaticString, raw value: [UInt8]) {
        self.name(name)
        raw(value)
    }
}
