/// The values of a statement's `$1`, `$2`, …, in binary form, each with its type.
///
/// All bytes lie in one buffer; a value that is emptied with ``removeAll()`` and filled again allocates nothing.
package struct Parameters: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var types: [UInt32] = []
    /// Where each value begins; -1 for null.
    private(set) var offsets: [Int] = []
    private(set) var lengths: [Int32] = []
    private(set) var fault: PostgresError?

    package init() {}

    package var count: Int { types.count }

    /// Keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        fault = nil
    }

    /// Appends an array; nil for a null of its type is ``appendNullArray(_:)``.
    package mutating func append(_ array: borrowing ArrayParameter) {
        let start = bytes.count
        array.write(to: &bytes)
        finish(identifier: array.element.arrayIdentifier, start: start, fault: array.fault)
    }

    package mutating func appendNullArray(_ element: ColumnType) {
        appendNull(identifier: element.arrayIdentifier)
    }

    private mutating func appendNull(identifier: UInt32) {
        types.append(identifier)
        offsets.append(-1)
        lengths.append(0)
        if types.count > 65535 { note(.tooMany) }
    }

    private mutating func finish(identifier: UInt32, start: Int, fault: FieldFault?) {
        types.append(identifier)
        offsets.append(start)
        let length = bytes.count - start
        lengths.append(Int32(clamping: length))
        if let fault {
            note(fault)
        } else if length > Limit.field {
            note(.tooLong)
        } else if types.count > 65535 {
            note(.tooMany)
        }
    }

    private mutating func note(_ fault: FieldFault) {
        guard self.fault == nil else { return }
        self.fault = PostgresError(.parameter(number: count), fault.rawValue)
    }
}

extension Parameters: FieldSink {
    package mutating func appendField(_ type: ColumnType, _ write: (inout [UInt8]) -> FieldFault?) {
        let start = bytes.count
        let fault = write(&bytes)
        finish(identifier: type.rawValue, start: start, fault: fault)
    }

    package mutating func appendNull(_ type: ColumnType) { appendNull(identifier: type.rawValue) }
}

extension Parameters: ExpressibleByArrayLiteral {
    /// One value, for statements where brevity counts more than a buffer used again.
    package enum Value: Sendable {
        case text(String?)
        case bytea([UInt8]?)
        case uuid([UInt8]?)
        case bool(Bool?)
        case int2(Int16?)
        case int4(Int32?)
        case int8(Int64?)
        case float8(Double?)
        case timestampMilliseconds(Int64?)
        case array(ArrayParameter)
    }

    package init(arrayLiteral elements: Value...) {
        for element in elements { append(element) }
    }

    package mutating func append(_ value: Value) {
        switch value {
        case .text(let value): append(text: value)
        case .bytea(let value): append(bytea: value)
        case .uuid(let value): append(uuid: value)
        case .bool(let value): append(bool: value)
        case .int2(let value): append(int2: value)
        case .int4(let value): append(int4: value)
        case .int8(let value): append(int8: value)
        case .float8(let value): append(float8: value)
        case .timestampMilliseconds(let value): append(timestampMilliseconds: value)
        case .array(let value): append(value)
        }
    }
}

enum Limit {
    /// PostgreSQL's `MaxAllocSize`, less room for what surrounds a value.
    static let field = 0x3fff_ff00
}
