/// One-dimensional arrays out of results; the form is drawn at ``ArrayParameter``.
extension Rows {
    /// Lends each element of an array in turn, nil for a null element, without copying.
    ///
    /// - Returns: the number of elements; nil if the array itself is null.
    /// - Throws: ``PostgresError/Kind/decoding(column:)`` if the column is not an array of `element`, has more than one
    ///   dimension, or does not hold what it promises.
    @discardableResult
    package func forEachElement(
        _ row: Int,
        _ column: Int,
        of element: ColumnType,
        _ body: (Span<UInt8>?) throws(PostgresError) -> Void
    ) throws(PostgresError) -> Int? {
        guard let bytes = try unsafe arrayBytes(row, column, of: element) else { return nil }
        return try unsafe walk(bytes.span, column, element, body)
    }

    private func walk(
        _ bytes: Span<UInt8>,
        _ column: Int,
        _ element: ColumnType,
        _ body: (Span<UInt8>?) throws(PostgresError) -> Void
    ) throws(PostgresError) -> Int {
        guard let dimensions = Int32(bigEndian: bytes, at: 0), let type = UInt32(bigEndian: bytes, at: 8)
        else {
            throw mismatch(column, "is a truncated array")
        }
        if dimensions == 0 { return 0 }
        guard dimensions == 1 else { throw mismatch(column, "has \(dimensions) dimensions, not one") }
        guard element.reads(type) else {
            throw mismatch(column, "has elements of type \(type), not \(element)")
        }
        guard let announced = Int32(bigEndian: bytes, at: 12), announced >= 0 else {
            throw mismatch(column, "is a truncated array")
        }
        var offset = 20
        for _ in 0..<announced {
            guard let length = Int32(bigEndian: bytes, at: offset) else {
                throw mismatch(column, "is a truncated array")
            }
            offset += 4
            if length == -1 {
                try body(nil)
                continue
            }
            guard length >= 0, Int(length) <= bytes.count - offset else {
                throw mismatch(column, "is a truncated array")
            }
            try body(bytes.extracting(offset..<(offset + Int(length))))
            offset += Int(length)
        }
        return Int(announced)
    }

    package func textArray(_ row: Int, _ column: Int) throws(PostgresError) -> [String?]? {
        try array(row, column, of: .text) { bytes in
            unsafe bytes.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
        }
    }

    package func byteaArray(_ row: Int, _ column: Int) throws(PostgresError) -> [[UInt8]?]? {
        try array(row, column, of: .bytea) { bytes in [UInt8](copying: bytes) }
    }

    package func uuidArray(_ row: Int, _ column: Int) throws(PostgresError) -> [[UInt8]?]? {
        try array(row, column, of: .uuid) { bytes in bytes.count == 16 ? [UInt8](copying: bytes) : nil }
    }

    package func boolArray(_ row: Int, _ column: Int) throws(PostgresError) -> [Bool?]? {
        try array(row, column, of: .bool) { bytes in bytes.count == 1 ? bytes[0] != 0 : nil }
    }

    package func int4Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int32?]? {
        try array(row, column, of: .int4) { bytes in bytes.count == 4 ? Int32(bigEndian: bytes, at: 0) : nil }
    }

    package func int8Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int64?]? {
        try array(row, column, of: .int8) { bytes in bytes.count == 8 ? Int64(bigEndian: bytes, at: 0) : nil }
    }

    /// Reads an array whole; `read` gives an element's value, or nil if its bytes do not have the type's form.
    private func array<T>(
        _ row: Int,
        _ column: Int,
        of element: ColumnType,
        _ read: (Span<UInt8>) -> T?
    ) throws(PostgresError) -> [T?]? {
        var values: [T?] = []
        let count = try forEachElement(row, column, of: element) {
            (bytes: Span<UInt8>?) throws(PostgresError) in
            guard let bytes else {
                values.append(nil)
                return
            }
            guard let value = read(bytes) else { throw mismatch(column, "has a malformed element") }
            values.append(value)
        }
        return count == nil ? nil : values
    }
}

extension [UInt8] {
    init(copying span: Span<UInt8>) {
        self.init()
        append(copying: span)
    }
}
