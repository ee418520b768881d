/// Something that takes typed fields in PostgreSQL's binary form: parameters, an array's elements, a row of COPY.
///
/// The typed `append`s are written once, here. None throws: the first field that cannot be sent is remembered by the
/// sink and thrown where the fields are used, so a list of appends stays a list.
package protocol FieldSink: ~Copyable {
    /// Takes one field; `write` appends the bytes after the sink has made room for their length.
    mutating func appendField(_ type: ColumnType, _ write: (inout [UInt8]) -> FieldFault?)
    /// Takes a null of a type.
    mutating func appendNull(_ type: ColumnType)
}

/// Why a field cannot be sent.
package enum FieldFault: String, Sendable, Equatable {
    case zeroByte = "text contains a zero byte, which PostgreSQL cannot store"
    case uuidLength = "a UUID is not 16 bytes long"
    case timestampRange = "a time is out of PostgreSQL's range"
    case elementType = "an array element is not of the array's type"
    case tooLong = "a value is larger than PostgreSQL's limit of 1 GiB"
    case tooMany = "there are more than 65535 fields"
}

extension FieldSink where Self: ~Copyable {
    package mutating func append(text: String?) {
        guard var text else { return appendNull(.text) }
        // Native strings are contiguous already; others become so once.
        text.withUTF8 { unsafe append(text: $0.span) }
    }

    /// The bytes must be UTF-8; the server checks that.
    package mutating func append(text: Span<UInt8>) {
        appendField(.text) { buffer in
            buffer.append(copying: text)
            return text.containsZero ? .zeroByte : nil
        }
    }

    package mutating func append(bytea: [UInt8]?) {
        guard let bytea else { return appendNull(.bytea) }
        append(bytea: bytea.span)
    }

    package mutating func append(bytea: Span<UInt8>) {
        appendField(.bytea) { buffer in
            buffer.append(copying: bytea)
            return nil
        }
    }

    /// 16 bytes, in the order of the text form.
    package mutating func append(uuid: [UInt8]?) {
        guard let uuid else { return appendNull(.uuid) }
        append(uuid: uuid.span)
    }

    /// 16 bytes, in the order of the text form.
    package mutating func append(uuid: Span<UInt8>) {
        appendField(.uuid) { buffer in
            buffer.append(copying: uuid)
            return uuid.count == 16 ? nil : .uuidLength
        }
    }

    package mutating func append(bool: Bool?) {
        guard let bool else { return appendNull(.bool) }
        appendField(.bool) { buffer in
            buffer.append(bool ? 1 : 0)
            return nil
        }
    }

    package mutating func append(int2: Int16?) { appendInteger(int2, .int2) }
    package mutating func append(int4: Int32?) { appendInteger(int4, .int4) }
    package mutating func append(int8: Int64?) { appendInteger(int8, .int8) }
    package mutating func append(float8: Double?) { appendInteger(float8?.bitPattern, .float8) }

    /// A `timestamptz` given in milliseconds since the Unix epoch.
    package mutating func append(timestampMilliseconds milliseconds: Int64?) {
        guard let milliseconds else { return appendNull(.timestamptz) }
        appendField(.timestamptz) { buffer in
            let microseconds = Epoch.microseconds(unixMilliseconds: milliseconds)
            buffer.append(bigEndian: microseconds ?? 0)
            return microseconds == nil ? .timestampRange : nil
        }
    }

    private mutating func appendInteger<T: FixedWidthInteger>(_ value: T?, _ type: ColumnType) {
        guard let value else { return appendNull(type) }
        appendField(type) { buffer in
            buffer.append(bigEndian: value)
            return nil
        }
    }
}

extension [UInt8] {
    mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
    }

    mutating func append(copying span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Overwrites the bytes at `offset` with `value`.
    mutating func replace<T: FixedWidthInteger>(at offset: Int, bigEndian value: T) {
        for index in 0..<MemoryLayout<T>.size {
            self[offset + index] = UInt8(
                truncatingIfNeeded: value >> (8 * (MemoryLayout<T>.size - 1 - index))
            )
        }
    }
}

extension Span<UInt8> {
    var containsZero: Bool {
        for index in indices where self[index] == 0 { return true }
        return false
    }
}
