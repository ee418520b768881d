internal import Cpq

/// What a statement gave back: rows and columns, counted from 0, in binary form as the server sent them.
///
/// Nothing is decoded or copied before it is asked for. Asking for a row or column that is not there, for the wrong type,
/// or for a value where there is none, is an error that names the column; it never traps.
///
/// The corresponding C type is `PGresult`.
@safe
package struct Rows: ~Copyable {
    /// How many rows there are; 0 for a statement that gives none.
    package let count: Int
    package let columnCount: Int
    /// The OID of each column's type.
    private let types: [UInt32]
    private let result: OpaquePointer

    /// Takes ownership of a result that is no error.
    init(owning result: OpaquePointer) {
        unsafe self.result = result
        count = unsafe Int(PQntuples(result))
        columnCount = unsafe Int(PQnfields(result))
        types = (0..<columnCount).map { unsafe PQftype(result, Int32($0)) }
    }

    deinit { unsafe PQclear(result) }

    /// How many rows an INSERT, UPDATE, DELETE, MERGE, SELECT or COPY was about; 0 for others.
    ///
    /// The corresponding C function is `PQcmdTuples`.
    package var affected: Int { unsafe Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The command as the server names it, such as `COMMIT` or `INSERT 0 3`.
    var tag: String { unsafe String(cString: PQcmdStatus(result)) }

    /// A column's name; empty if there is no such column.
    package func name(of column: Int) -> String {
        guard (0..<columnCount).contains(column), let name = unsafe PQfname(result, Int32(column)) else {
            return ""
        }
        return unsafe String(cString: name)
    }

    /// - Throws: ``PostgresError/Kind/decoding(column:)`` if there is no such row or column.
    package func isNull(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try check(row, column)
        return unsafe PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    /// Lends a value's bytes, of whatever type, as they lie in the result.
    ///
    /// - Returns: what `body` returns, or nil for a null, for which `body` is not called.
    package func withBytes<R>(
        _ row: Int,
        _ column: Int,
        _ body: (Span<UInt8>) throws(PostgresError) -> R
    ) throws(PostgresError) -> R? {
        try check(row, column)
        guard let bytes = unsafe field(row, column) else { return nil }
        return try unsafe body(bytes.span)
    }

    /// Appends a value's bytes, of whatever type, to `buffer`.
    ///
    /// - Returns: false for a null, which appends nothing.
    @discardableResult
    package func append(_ row: Int, _ column: Int, to buffer: inout [UInt8]) throws(PostgresError) -> Bool {
        try check(row, column)
        guard let bytes = unsafe field(row, column) else { return false }
        unsafe buffer.append(contentsOf: bytes)
        return true
    }

    /// The bytes of a value whose column must have the form of `type` and, if it has a fixed length, that length.
    ///
    /// - Returns: nil for a null.
    @unsafe
    func bytes(
        _ row: Int,
        _ column: Int,
        as type: ColumnType,
        length: Int? = nil
    ) throws(PostgresError) -> UnsafeBufferPointer<UInt8>? {
        try check(row, column)
        guard type.reads(types[column]) else {
            throw mismatch(column, "is of type \(types[column]), not \(type)")
        }
        guard let bytes = unsafe field(row, column) else { return nil }
        if let length, bytes.count != length {
            throw mismatch(column, "has \(bytes.count) bytes, not \(length)")
        }
        return unsafe bytes
    }

    /// The same for an array of `element`.
    @unsafe
    func arrayBytes(
        _ row: Int,
        _ column: Int,
        of element: ColumnType
    ) throws(PostgresError) -> UnsafeBufferPointer<UInt8>? {
        try check(row, column)
        guard element.readsArray(types[column]) else {
            throw mismatch(column, "is of type \(types[column]), not an array of \(element)")
        }
        return unsafe field(row, column)
    }

    /// The type of a column, as an OID; 0 if there is no such column.
    func type(of column: Int) -> UInt32 { types.indices.contains(column) ? types[column] : 0 }

    func mismatch(_ column: Int, _ what: String) -> PostgresError {
        let name = name(of: column)
        return PostgresError(.decoding(column: name), "column \(column) (\(name)) \(what)")
    }

    private func check(_ row: Int, _ column: Int) throws(PostgresError) {
        guard row >= 0, row < count else { throw mismatch(column, "has no row \(row) of \(count)") }
        guard column >= 0, column < columnCount else {
            throw mismatch(column, "is not one of \(columnCount)")
        }
    }

    /// The corresponding C functions are `PQgetvalue`, `PQgetlength` and `PQgetisnull`.
    private func field(_ row: Int, _ column: Int) -> UnsafeBufferPointer<UInt8>? {
        let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
        let length = unsafe PQgetlength(result, row, column)
        if length == 0, unsafe PQgetisnull(result, row, column) == 1 { return nil }
        guard let value = unsafe PQgetvalue(result, row, column) else { return nil }
        let start = unsafe UnsafeRawPointer(value).assumingMemoryBound(to: UInt8.self)
        return unsafe UnsafeBufferPointer(start: start, count: Int(length))
    }
}
