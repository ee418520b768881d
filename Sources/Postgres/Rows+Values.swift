/// Values by type. Each verb has a twin that gives nil for a null; the plain one takes a null for an error.
extension Rows {
    package func bool(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try require(boolIfPresent(row, column), column)
    }

    package func boolIfPresent(_ row: Int, _ column: Int) throws(PostgresError) -> Bool? {
        try unsafe bytes(row, column, as: .bool, length: 1).map { unsafe $0[0] != 0 }
    }

    /// From int2 or int4.
    package func int4(_ row: Int, _ column: Int) throws(PostgresError) -> Int32 {
        try require(int4IfPresent(row, column), column)
    }

    /// From int2 or int4.
    package func int4IfPresent(_ row: Int, _ column: Int) throws(PostgresError) -> Int32? {
        if type(of: column) == ColumnType.int2.rawValue {
            return try unsafe bytes(row, column, as: .int2, length: 2).map {
                unsafe Int32(Int16(bigEndian: $0))
            }
        }
        return try unsafe bytes(row, column, as: .int4, length: 4).map { unsafe Int32(bigEndian: $0) }
    }

    /// From int2, int4 or int8.
    package func int8(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try require(int8IfPresent(row, column), column)
    }

    /// From int2, int4 or int8.
    package func int8IfPresent(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        if type(of: column) == ColumnType.int8.rawValue {
            return try unsafe bytes(row, column, as: .int8, length: 8).map { unsafe Int64(bigEndian: $0) }
        }
        return try int4IfPresent(row, column).map(Int64.init)
    }

    package func float8(_ row: Int, _ column: Int) throws(PostgresError) -> Double {
        try require(float8IfPresent(row, column), column)
    }

    package func float8IfPresent(_ row: Int, _ column: Int) throws(PostgresError) -> Double? {
        try unsafe bytes(row, column, as: .float8, length: 8).map {
            unsafe Double(bitPattern: UInt64(bigEndian: $0))
        }
    }

    /// From text, varchar, char(n), name and json.
    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        try require(textIfPresent(row, column), column)
    }

    /// From text, varchar, char(n), name and json.
    package func textIfPresent(_ row: Int, _ column: Int) throws(PostgresError) -> String? {
        guard let bytes = try unsafe bytes(row, column, as: .text) else { return nil }
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
            throw mismatch(column, "is not UTF-8")
        }
        return text
    }

    package func bytea(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        try require(byteaIfPresent(row, column), column)
    }

    package func byteaIfPresent(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8]? {
        try unsafe bytes(row, column, as: .bytea).map { unsafe [UInt8]($0) }
    }

    /// 16 bytes, in the order of the text form.
    package func uuid(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        try require(uuidIfPresent(row, column), column)
    }

    /// 16 bytes, in the order of the text form.
    package func uuidIfPresent(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8]? {
        try unsafe bytes(row, column, as: .uuid, length: 16).map { unsafe [UInt8]($0) }
    }

    /// A `timestamptz` in milliseconds since the Unix epoch, rounded down; `infinity` is an error.
    package func timestampMilliseconds(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try require(timestampMillisecondsIfPresent(row, column), column)
    }

    /// A `timestamptz` in milliseconds since the Unix epoch, rounded down; `infinity` is an error.
    package func timestampMillisecondsIfPresent(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let bytes = try unsafe bytes(row, column, as: .timestamptz, length: 8) else { return nil }
        guard let milliseconds = unsafe Epoch.unixMilliseconds(microseconds: Int64(bigEndian: bytes)) else {
            throw mismatch(column, "is infinite")
        }
        return milliseconds
    }

    private func require<T>(_ value: T?, _ column: Int) throws(PostgresError) -> T {
        guard let value else { throw mismatch(column, "is null") }
        return value
    }
}

extension FixedWidthInteger {
    /// Reads from the front of `bytes`, which holds at least as many as the type has.
    @unsafe
    @inline(__always)
    init(bigEndian bytes: UnsafeBufferPointer<UInt8>) {
        self.init(bigEndian: unsafe UnsafeRawBufferPointer(bytes).loadUnaligned(as: Self.self))
    }

    /// Reads at `offset`; nil if the span ends before.
    init?(bigEndian bytes: Span<UInt8>, at offset: Int) {
        let size = MemoryLayout<Self>.size
        guard offset >= 0, bytes.count >= size, offset <= bytes.count - size else { return nil }
        var value: Self = 0
        for index in 0..<size {
            value = (value << 8) | Self(truncatingIfNeeded: bytes[offset + index])
        }
        self = value
    }
}
