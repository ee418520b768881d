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
package struct Headers: Sendable {
    /// The headers, from `start` to `end`.
    ///
    /// Before them lies what belongs to the record that they were read with,
    /// behind them room that was used before.
    private(set) var storage: [UInt8]
    private(set) var start: Int
    private(set) var end: Int
    package private(set) var count: Int

    package init() {
        self.init(storage: [], start: 0, count: 0)
    }

    package init(_ headers: some Sequence<Header>) {
        self.init()
        for header in headers { append(header) }
    }

    /// Takes bytes that are laid out already.
    init(storage: [UInt8], start: Int, count: Int) {
        self.storage = storage
        self.start = start
        end = storage.count
        self.count = count
    }

    package var isEmpty: Bool { count == 0 }

    // MARK: - Writing

    /// Empties it and keeps the memory.
    package mutating func removeAll() {
        (start, end, count) = (0, 0, 0)
    }

    /// Where the headers end at present, for ``removeAll(after:)``.
    package var mark: Mark { Mark(end: end, count: count) }

    /// Drops what was appended since, so that headers common to several records are written once.
    package mutating func removeAll(after mark: Mark) {
        guard mark.end >= start, mark.end <= end, mark.count <= count else { return }
        (end, count) = (mark.end, mark.count)
    }

    package struct Mark: Sendable {
        fileprivate let end: Int
        fileprivate let count: Int
    }

    package mutating func append(_ header: Header) {
        append(nameBytes: header.nameBytes, value: header.value)
    }

    /// Appends a header whose name is known when we are built; nothing is allocated once the buffer has grown.
    package mutating func append(_ name: StaticString, _ value: [UInt8]?) {
        name.withUTF8Buffer { name in
            guard let value else { return unsafe append(UnsafeRawBufferPointer(name), nil) }
            unsafe value.withUnsafeBytes { unsafe append(UnsafeRawBufferPointer(name), $0) }
        }
    }

    package mutating func append(_ name: StaticString, _ value: Span<UInt8>) {
        name.withUTF8Buffer { name in
            unsafe value.withUnsafeBytes { unsafe append(UnsafeRawBufferPointer(name), $0) }
        }
    }

    package mutating func append(_ name: StaticString, text: String) {
        append(name, text.utf8.span)
    }

    package mutating func append(name: String, _ value: [UInt8]?) {
        let nameBytes = name.utf8.span
        unsafe nameBytes.withUnsafeBytes { name in
            guard let value else { return unsafe append(name, nil) }
            unsafe value.withUnsafeBytes { unsafe append(name, $0) }
        }
    }

    /// Appends a header as ``forEachLent(_:)`` lends it.
    package mutating func append(name: Span<UInt8>, _ value: Span<UInt8>, isNull: Bool) {
        unsafe name.withUnsafeBytes { name in
            if isNull { return unsafe append(name, nil) }
            unsafe value.withUnsafeBytes { unsafe append(name, $0) }
        }
    }

    package mutating func append(nameBytes: [UInt8], value: [UInt8]?) {
        unsafe nameBytes.withUnsafeBytes { name in
            guard let value else { return unsafe append(name, nil) }
            unsafe value.withUnsafeBytes { unsafe append(name, $0) }
        }
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

    private mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        let size = Self.size(nameCount: name.count, valueCount: unsafe value?.count)
        if storage.count - end < size { grow(by: size) }
        let position = end
        unsafe storage.withUnsafeMutableBytes { bytes in
            unsafe Self.write(name, value, to: UnsafeMutableRawBufferPointer(rebasing: bytes[position...]))
        }
        end += size
        count += 1
    }

    private mutating func grow(by size: Int) {
        let room = Swift.max(512, storage.count, size)
        storage.append(contentsOf: repeatElement(0, count: room))
    }

    // MARK: - Reading

    /// The bytes that all headers take here, framing included; a little more than they take on the wire.
    package var byteCount: Int { end - start }

    /// Lends every header in order, without copying anything; one without a value comes with an empty one and `isNull`.
    package func forEachLent(_ body: (_ name: Span<UInt8>, _ value: Span<UInt8>, _ isNull: Bool) -> Void) {
        let storage = storage.span
        var position = start
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
        let wanted = name.utf8.span
        let storage = storage.span
        var position = start
        while let slot = slot(at: position) {
            if slot.name.count == wanted.count {
                var index = 0
                while index < wanted.count, storage[slot.name.lowerBound + index] == wanted[index] {
                    index += 1
                }
                if index == wanted.count { return slot }
            }
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

    /// The bytes that one header takes.
    static func size(nameCount: Int, valueCount: Int?) -> Int {
        nameCount + (valueCount ?? 0) + 9
    }

    /// Writes one header to the beginning of `bytes`, which has the room.
    static func write(
        _ name: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer?,
        to bytes: UnsafeMutableRawBufferPointer
    ) {
        let valueCount = unsafe value.map { Int32(clamping: $0.count) } ?? -1
        unsafe bytes.storeBytes(of: UInt32(truncatingIfNeeded: name.count), as: UInt32.self)
        unsafe bytes.storeBytes(of: valueCount, toByteOffset: 4, as: Int32.self)
        unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[8...]).copyMemory(from: name)
        unsafe bytes.storeBytes(of: 0, toByteOffset: 8 + name.count, as: UInt8.self)
        if let value = unsafe value {
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[(9 + name.count)...]).copyMemory(from: value)
        }
    }

    func slot(at position: Int) -> Slot? {
        guard position + 9 <= end else { return nil }
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
        var position: Int

        package mutating func next() -> Header? {
            guard let slot = headers.slot(at: position) else { return nil }
            position = slot.end
            return headers.header(slot)
        }
    }

    package func makeIterator() -> Iterator { Iterator(headers: self, position: start) }
    package var underestimatedCount: Int { count }
}

extension Headers: Equatable {
    package static func == (left: Headers, right: Headers) -> Bool {
        left.count == right.count
            && left.storage[left.start..<left.end] == right.storage[right.start..<right.end]
    }
}
