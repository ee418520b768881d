internal import Cpq

/// Rows on their way into a table, in COPY's binary form.
///
/// Append a row's fields in the order of the statement's columns, each of exactly its column's type, then call
/// ``endRow()``. Memory is bounded: about 64 KiB, or one row if that is longer.
///
/// | bytes | meaning |
/// |---|---|
/// | 19, once | signature, flags, header extension |
/// | 2 | number of fields |
/// | 4 + n each | length or -1, then the field |
/// | 2, at the end | -1 |
///
/// Source: PostgreSQL 15, COPY, "Binary Format".
package struct CopyWriter: ~Copyable {
    private static let signature =
        Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00] + [UInt8](repeating: 0, count: 8)
    private static let chunk = 65536

    /// Rows ended so far.
    package private(set) var rowCount = 0
    /// For one stall; renewed by progress.
    var patience: Patience
    private let wire: Wire
    private let stallTimeout: Duration
    private var buffer = signature
    private var rowStart = signature.count
    private var fieldCount = 0
    private var fault: PostgresError?

    init(_ wire: Wire, stallTimeout: Duration, patience: consuming Patience) {
        self.wire = wire
        self.stallTimeout = stallTimeout
        self.patience = patience
        buffer.reserveCapacity(2 * Self.chunk)
        beginRow()
    }

    /// Ends the row whose fields were appended.
    ///
    /// - Throws: ``PostgresError/Kind/parameter(number:)`` for a field that cannot be sent; that row is then left out, and
    ///   the writer can go on. Whatever else it throws ends the COPY.
    package mutating func endRow() throws(PostgresError) {
        if let fault {
            dropRow()
            throw fault
        }
        buffer.replace(at: rowStart, bigEndian: Int16(truncatingIfNeeded: fieldCount))
        rowCount += 1
        if buffer.count >= Self.chunk { try send() }
        beginRow()
    }

    /// Forgets the fields appended since the last ``endRow()``.
    package mutating func dropRow() {
        buffer.removeSubrange(rowStart...)
        beginRow()
    }

    /// Sends what is left and the end mark; a row that was not ended is left out.
    mutating func finish() throws(PostgresError) {
        buffer.removeSubrange(rowStart...)
        buffer.append(bigEndian: Int16(-1))
        try send()
    }

    private mutating func beginRow() {
        rowStart = buffer.count
        buffer.append(bigEndian: Int16(0))
        fieldCount = 0
        fault = nil
    }

    /// The corresponding C function is `PQputCopyData`.
    private mutating func send() throws(PostgresError) {
        let status = unsafe buffer.withUnsafeBytes { raw in
            let start = unsafe raw.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe PQputCopyData(wire.connection, start, Int32(clamping: raw.count))
        }
        try wire.require(status)
        buffer.removeAll(keepingCapacity: true)
        // libpq would go on buffering; waiting here is what bounds the memory.
        try wire.flush(&patience)
        patience.renew(timeout: stallTimeout)
    }
}

extension CopyWriter: FieldSink {
    package mutating func appendField(_ type: ColumnType, _ write: (inout [UInt8]) -> FieldFault?) {
        let start = buffer.count
        buffer.append(bigEndian: Int32(0))
        let found = write(&buffer)
        endField(start, found)
    }

    package mutating func appendNull(_ type: ColumnType) {
        buffer.append(bigEndian: Int32(-1))
        fieldCount += 1
    }

    package mutating func append(_ array: borrowing ArrayParameter) {
        let start = buffer.count
        buffer.append(bigEndian: Int32(0))
        array.write(to: &buffer)
        endField(start, array.fault)
    }

    private mutating func endField(_ start: Int, _ found: FieldFault?) {
        fieldCount += 1
        buffer.replace(at: start, bigEndian: Int32(clamping: buffer.count - start - 4))
        var found = found
        if buffer.count - rowStart > Limit.field { found = .tooLong }
        if fieldCount > Int(Int16.max) { found = .tooMany }
        if fault == nil, let found { fault = PostgresError(.parameter(number: fieldCount), found.rawValue) }
    }
}
