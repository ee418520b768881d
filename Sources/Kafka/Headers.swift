import Glibc

/// The headers of a record, in order, in one buffer.
///
/// A record carries a dozen short headers; an array of names and values would be two dozen allocations. So they lie
/// one behind the other, and a lane reuses one value for all that it produces:
///
/// | field | bytes |
/// |---|---|
/// | length of the name | 4, native order |
/// | length of the value, -1 without one | 4, native order |
/// | name, as it came, UTF-8 or not | n |
/// | zero, for C | 1 |
/// | value | n |
///
/// Names may repeat. A name with a zero byte inside is cut there, since librdkafka's interface has C strings.
package struct Headers: Sendable, Equatable {
    private(set) var storage: [UInt8] = []
    package private(set) var count = 0

    package init() {}

    package init(_ headers: some Sequence<Header>) {
        for header in headers { append(header) }
    }

    package var isEmpty: Bool { count == 0 }

    // MARK: - Writing

    /// Empties it and keeps the memory.
    package mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
        count = 0
    }

    package mutating func append(_ header: Header) {
        append(nameBytes: header.nameBytes, value: header.value)
    }

    /// Appends a header whose name is known when we are built; nothing is allocated once the buffer has grown.
    package mutating func append(_ name: StaticString, _ value: [UInt8]?) {
        name.withUTF8Buffer { unsafe open(UnsafeRawBufferPointer($0), valueCount: value?.count) }
        if let value { storage.append(contentsOf: value) }
    }

    package mutating func append(_ name: StaticString, _ value: Span<UInt8>) {
        name.withUTF8Buffer { unsafe open(UnsafeRawBufferPointer($0), valueCount: value.count) }
        unsafe value.withUnsafeBufferPointer { unsafe storage.append(contentsOf: $0) }
    }

    package mutating func append(_ name: StaticString, text: String) {
        name.withUTF8Buffer { unsafe open(UnsafeRawBufferPointer($0), valueCount: text.utf8.count) }
        storage.append(contentsOf: text.utf8)
    }

    package mutating func append(name: String, _ value: [UInt8]?) {
        append(nameBytes: Array(name.utf8), value: value)
    }

    package mutating func append(nameBytes: [UInt8], value: [UInt8]?) {
        unsafe nameBytes.withUnsafeBytes { unsafe open($0, valueCount: value?.count) }
        if let value { storage.append(contentsOf: value) }
    }

    /// Drops every header of that name; the others keep their order.
    package mutating func remove(_ name: String) {
        guard contains(name) else { return }
        let name = Array(name.utf8)
        self = Headers(filter { $0.nameBytes != name })
    }

    /// Puts one header in the place of all of that name, at the end.
    package mutating func replace(_ name: StaticString, _ value: [UInt8]?) {
        remove(name.description)
        append(name, value)
    }

    /// Makes room for `bytes` more in one go.
    mutating func reserve(_ bytes: Int) {
        storage.reserveCapacity(storage.count + bytes)
    }

    /// From C: a terminated name, and a value that may be null.
    mutating func append(name: UnsafePointer<CChar>?, value: UnsafeRawPointer?, count: Int) {
        let name = unsafe UnsafeRawBufferPointer(start: name, count: name.map { unsafe strlen($0) } ?? 0)
        unsafe open(name, valueCount: value == nil ? nil : count)
        if let value = unsafe value {
            unsafe storage.append(contentsOf: UnsafeRawBufferPointer(start: value, count: count))
        }
    }

    private mutating func open(_ name: UnsafeRawBufferPointer, valueCount: Int?) {
        let nameCount = name.count
        append(length: UInt32(truncatingIfNeeded: nameCount))
        append(length: UInt32(bitPattern: Int32(clamping: valueCount ?? -1)))
        unsafe storage.append(contentsOf: name)
        storage.append(0)
        count += 1
    }

    private mutating func append(length: UInt32) {
        unsafe withUnsafeBytes(of: length) { unsafe storage.append(contentsOf: $0) }
    }

    // MARK: - Reading

    /// The bytes that all headers take here, framing included; a little more than they take on the wire.
    package var byteCount: Int { storage.count }

    /// Lends every header in order, without copying anything; one without a value comes with an empty one and `isNull`.
    package func forEachLent(_ body: (_ name: Span<UInt8>, _ value: Span<UInt8>, _ isNull: Bool) -> Void) {
        let storage = storage.span
        var position = 0
        while let slot = slot(at: position) {
            let value = slot.value ?? slot.end..<slot.end
            body(storage.extracting(slot.name), storage.extracting(value), slot.value == nil)
            position = slot.end
        }
    }

    /// The first header of that name.
    package func first(_ name: String) -> Header? {
        firstSlot(name).map(header)
    }

    /// The value of the first header of that name; `nil` if there is none or it has no value.
    package func value(_ name: String) -> [UInt8]? {
        guard let range = firstSlot(name)?.value else { return nil }
        return Array(storage[range])
    }

    /// The value of the first header of that name as text; `nil` too if it is not UTF-8.
    package func text(_ name: String) -> String? {
        guard let range = firstSlot(name)?.value else { return nil }
        return String(validating: storage[range], as: UTF8.self)
    }

    /// The header's value without copying it out; `nil` as in ``value(_:)``.
    package func withValue<Result>(_ name: String, _ body: (Span<UInt8>) -> Result) -> Result? {
        guard let range = firstSlot(name)?.value else { return nil }
        return body(storage.span.extracting(range))
    }

    package func contains(_ name: String) -> Bool {
        firstSlot(name) != nil
    }

    private func firstSlot(_ name: String) -> Slot? {
        var position = 0
        while let slot = slot(at: position) {
            if slot.name.count == name.utf8.count, storage[slot.name].elementsEqual(name.utf8) { return slot }
            position = slot.end
        }
        return nil
    }

    // MARK: - Layout

    /// Where one header lies in ``storage``.
    struct Slot {
        let name: Range<Int>
        let value: Range<Int>?
        let end: Int
    }

    func slot(at position: Int) -> Slot? {
        guard position + 9 <= storage.count else { return nil }
        let (nameCount, valueCount) = unsafe storage.withUnsafeBytes { bytes in
            (
                unsafe Int(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)),
                unsafe Int(bytes.loadUnaligned(fromByteOffset: position + 4, as: Int32.self))
            )
        }
        let name = position + 8..<position + 8 + nameCount
        let start = name.upperBound + 1
        let end = start + Swift.max(valueCount, 0)
        return Slot(name: name, value: valueCount < 0 ? nil : start..<end, end: end)
    }

    private func header(_ slot: Slot) -> Header {
        Header(nameBytes: Array(storage[slot.name]), value: slot.value.map { Array(storage[$0]) })
    }
}

extension Headers: Sequence {
    package struct Iterator: IteratorProtocol {
        let headers: Headers
        var position = 0

        package mutating func next() -> Header? {
            guard let slot = headers.slot(at: position) else { return nil }
            position = slot.end
            return headers.header(slot)
        }
    }

    package func makeIterator() -> Iterator { Iterator(headers: self) }
    package var underestimatedCount: Int { count }
}

/// One header on its own, for those who are not in a hurry.
package struct Header: Sendable, Equatable {
    package let nameBytes: [UInt8]
    /// `nil` for a header without a value, which is not an empty one.
    package let value: [UInt8]?

    package init(_ name: String, _ value: [UInt8]?) {
        self.init(nameBytes: Array(name.utf8), value: value)
    }

    package init(_ name: String, text: String) {
        self.init(nameBytes: Array(name.utf8), value: Array(text.utf8))
    }

    package init(nameBytes: [UInt8], value: [UInt8]?) {
        self.nameBytes = nameBytes
        self.value = value
    }

    /// The name as text; bytes that are no UTF-8 are replaced, so compare ``nameBytes`` where it matters.
    package var name: String { String(decoding: nameBytes, as: UTF8.self) }
    /// `nil` if there is no value or it is not UTF-8.
    package var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}
