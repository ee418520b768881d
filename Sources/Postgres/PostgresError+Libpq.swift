internal import Cpq

extension PostgresError {
    private static let longest = 400

    /// The error that a failed result carries.
    init(result: OpaquePointer, connection: OpaquePointer) {
        guard let state = unsafe Self.field(result, UInt8(ascii: "C")) else {
            // Made by libpq itself: nearly always the end of the session.
            let lost = unsafe PQstatus(connection) != CONNECTION_OK
            let text = unsafe Self.firstLine(String(cString: PQresultErrorMessage(result)))
            self.init(lost ? .connectionLost : .other, lost ? text : "libpq refused the exchange")
            return
        }
        let constraint = unsafe Self.field(result, UInt8(ascii: "n"))
        let primary = unsafe Self.field(result, UInt8(ascii: "M")) ?? ""
        self.init(
            SQLState.kind(of: state, constraint: constraint),
            SQLState.hasSafeMessage(state) ? Self.firstLine(primary) : "the server refused the statement",
            sqlState: state
        )
        table = unsafe Self.field(result, UInt8(ascii: "t"))
        column = unsafe Self.field(result, UInt8(ascii: "c"))
        copyRow = unsafe Self.field(result, UInt8(ascii: "W")).flatMap(Self.copyRow)
    }

    /// The error of a connection attempt, or of a call that failed without a result.
    init(connection: OpaquePointer) {
        let text = unsafe String(cString: PQerrorMessage(connection))
        let state = SQLState.find(in: text)
        let kind = state.map { SQLState.kind(of: $0, constraint: nil) } ?? .connectionLost
        self.init(kind, Self.firstLine(text), sqlState: state)
    }

    /// One diagnostic field, by the letter that the protocol gives it ("Error and Notice Message Fields").
    ///
    /// The corresponding C function is `PQresultErrorField`.
    private static func field(_ result: OpaquePointer, _ code: UInt8) -> String? {
        guard let value = unsafe PQresultErrorField(result, Int32(code)) else { return nil }
        return unsafe String(cString: value)
    }

    private static func firstLine(_ text: String) -> String {
        let line = text.utf8.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.prefix(longest), as: UTF8.self)
    }

    /// The row number in a context such as `COPY pushers, line 17, column lang: "…"`, which is not kept itself.
    private static func copyRow(_ context: String) -> Int? {
        guard context.hasPrefix("COPY "), let mark = context.firstRange(of: ", line ") else { return nil }
        return Int(context[mark.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }
}
