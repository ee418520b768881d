/// A one-dimensional array in binary form, filled element by element; nulls allowed.
///
/// For `unnest($1::uuid[], $2::bytea[])` keep one of these per column, append to each row by row, and hand them to
/// ``Parameters``. Emptied and filled again, it allocates nothing.
///
/// | bytes | meaning |
/// |---|---|
/// | 4 | dimensions: 1, or 0 if empty |
/// | 4 | 1 if any element is null |
/// | 4 | element type |
/// | 4, 4 | number of elements, lower bound 1; absent if empty |
/// | 4 + n each | length or -1, then the element |
///
/// Source: PostgreSQL 15 `src/backend/utils/adt/arrayfuncs.c`, `array_recv`.
package struct ArrayParameter: Sendable {
    package let element: ColumnType
    package private(set) var count = 0
    private(set) var fault: FieldFault?
    private var elements: [UInt8] = []
    private var hasNull = false

    package init(of element: ColumnType) { self.element = element }

    /// Keeps the memory.
    package mutating func removeAll() {
        elements.removeAll(keepingCapacity: true)
        count = 0
        hasNull = false
        fault = nil
    }

    func write(to buffer: inout [UInt8]) {
        buffer.append(bigEndian: Int32(count == 0 ? 0 : 1))
        buffer.append(bigEndian: Int32(hasNull ? 1 : 0))
        buffer.append(bigEndian: element.rawValue)
        guard count > 0 else { return }
        buffer.append(bigEndian: Int32(clamping: count))
        buffer.append(bigEndian: Int32(1))
        buffer.append(contentsOf: elements)
    }
}

extension ArrayParameter: FieldSink {
    package mutating func appendField(_ type: ColumnType, _ write: (inout [UInt8]) -> FieldFault?) {
        let start = elements.count
        elements.append(bigEndian: Int32(0))
        var found = write(&elements)
        let length = elements.count - start - 4
        elements.replace(at: start, bigEndian: Int32(clamping: length))
        count += 1
        if type != element { found = .elementType }
        if elements.count > Limit.field { found = .tooLong }
        if fault == nil { fault = found }
    }

    package mutating func appendNull(_ type: ColumnType) {
        elements.append(bigEndian: Int32(-1))
        count += 1
        hasNull = true
        if type != element, fault == nil { fault = .elementType }
    }
}

extension ArrayParameter {
    package init(text values: some Sequence<String?>) {
        self.init(of: .text)
        for value in values { append(text: value) }
    }

    package init(bytea values: some Sequence<[UInt8]?>) {
        self.init(of: .bytea)
        for value in values { append(bytea: value) }
    }

    package init(uuid values: some Sequence<[UInt8]?>) {
        self.init(of: .uuid)
        for value in values { append(uuid: value) }
    }

    package init(bool values: some Sequence<Bool?>) {
        self.init(of: .bool)
        for value in values { append(bool: value) }
    }

    package init(int4 values: some Sequence<Int32?>) {
        self.init(of: .int4)
        for value in values { append(int4: value) }
    }

    package init(int8 values: some Sequence<Int64?>) {
        self.init(of: .int8)
        for value in values { append(int8: value) }
    }
}
