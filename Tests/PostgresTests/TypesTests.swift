internal import Postgres
internal import Support
internal import Testing

struct `Values and their types` {
    @Test(arguments: Way.allCases)
    func `every type comes back as it was sent`(way: Way) throws {
        var connection = try way.connect()
        let uuid = (0..<16).map { UInt8($0 * 16) }
        let rows = try connection.query(
            "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9",
            [
                .text("Grüße, 世界"), .bytea([0, 1, 255]), .uuid(uuid), .bool(true), .int2(-2), .int4(.min),
                .int8(.max),
                .float8(-0.25), .timestampMilliseconds(1_735_689_600_123),
            ]
        )
        let text = try rows.text(0, 0)
        #expect(text == "Grüße, 世界")
        #expect(try rows.bytea(0, 1) == [0, 1, 255])
        #expect(try rows.uuid(0, 2) == uuid)
        #expect(try rows.bool(0, 3))
        #expect(try rows.int4(0, 4) == -2)
        #expect(try rows.int4(0, 5) == .min)
        #expect(try rows.int8(0, 6) == .max)
        #expect(try rows.float8(0, 7) == -0.25)
        #expect(try rows.timestampMilliseconds(0, 8) == 1_735_689_600_123)
    }

    @Test(arguments: Way.allCases)
    func `every type can be null`(way: Way) throws {
        var connection = try way.connect()
        let rows = try connection.query(
            "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9",
            [
                .text(nil), .bytea(nil), .uuid(nil), .bool(nil), .int2(nil), .int4(nil), .int8(nil),
                .float8(nil),
                .timestampMilliseconds(nil),
            ]
        )
        for column in 0..<9 { #expect(try rows.isNull(0, column)) }
        #expect(try rows.textIfPresent(0, 0) == nil)
        #expect(try rows.byteaIfPresent(0, 1) == nil)
        #expect(try rows.uuidIfPresent(0, 2) == nil)
        #expect(try rows.boolIfPresent(0, 3) == nil)
        #expect(try rows.int4IfPresent(0, 4) == nil)
        #expect(try rows.int4IfPresent(0, 5) == nil)
        #expect(try rows.int8IfPresent(0, 6) == nil)
        #expect(try rows.float8IfPresent(0, 7) == nil)
        #expect(try rows.timestampMillisecondsIfPresent(0, 8) == nil)
    }

    @Test(arguments: Way.allCases)
    func `empty values are not nulls`(way: Way) throws {
        var connection = try way.connect()
        let rows = try connection.query("SELECT $1, $2", [.text(""), .bytea([])])
        #expect(try rows.textIfPresent(0, 0)?.isEmpty == true)
        #expect(try rows.byteaIfPresent(0, 1)?.isEmpty == true)
        let alone = try connection.query("SELECT $1", [.text("")])
        #expect(try alone.textIfPresent(0, 0)?.isEmpty == true)
    }

    @Test(arguments: Way.allCases)
    func `arrays of every type come back with their nulls`(way: Way) throws {
        var connection = try way.connect()
        let uuid = [UInt8](repeating: 7, count: 16)
        let rows = try connection.query(
            "SELECT $1, $2, $3, $4, $5, $6",
            [
                .array(ArrayParameter(text: ["a", nil, "", "ö"])),
                .array(ArrayParameter(int4: [1, nil, .max])),
                .array(ArrayParameter(int8: [.min, nil])), .array(ArrayParameter(uuid: [uuid, nil])),
                .array(ArrayParameter(bytea: [[], nil, [0, 255]])),
                .array(ArrayParameter(bool: [true, nil, false])),
            ]
        )
        #expect(try rows.textArray(0, 0) == ["a", nil, "", "ö"])
        #expect(try rows.int4Array(0, 1) == [1, nil, .max])
        #expect(try rows.int8Array(0, 2) == [.min, nil])
        #expect(try rows.uuidArray(0, 3) == [uuid, nil])
        #expect(try rows.byteaArray(0, 4) == [[], nil, [0, 255]])
        #expect(try rows.boolArray(0, 5) == [true, nil, false])
    }

    @Test(arguments: Way.allCases)
    func `empty and null arrays are told apart`(way: Way) throws {
        var connection = try way.connect()
        var parameters = Parameters()
        parameters.append(ArrayParameter(of: .text))
        parameters.appendNullArray(.text)
        let rows = try connection.query("SELECT $1, $2, cardinality($1)", parameters)
        #expect(try rows.textArray(0, 0) == [])
        #expect(try rows.textArray(0, 1) == nil)
        #expect(try rows.int4(0, 2) == 0)
    }

    @Test(arguments: Way.allCases)
    func `arrays side by side unnest into rows`(way: Way) throws {
        var connection = try way.connect()
        var names = ArrayParameter(of: .text)
        var numbers = ArrayParameter(of: .int8)
        for number in 0..<1000 as Range<Int64> {
            names.append(text: number % 3 == 0 ? nil : "n\(number)")
            numbers.append(int8: number)
        }
        let rows = try connection.query(
            "SELECT name, number FROM unnest($1, $2) AS u(name, number) ORDER BY number",
            [.array(names), .array(numbers)]
        )
        #expect(rows.count == 1000)
        #expect(try rows.textIfPresent(999, 0) == nil)
        #expect(try rows.textIfPresent(998, 0) == "n998")
        #expect(try rows.int8(998, 1) == 998)
    }

    @Test func `what is sent as text is read as text`() throws {
        var connection = try Way.direct.connect()
        let rows = try connection.query(
            "SELECT 'a'::varchar, 'b'::char(2), 'c'::name, '{\"d\": 1}'::json, ARRAY['e']::varchar[]"
        )
        #expect(try rows.text(0, 0) == "a")
        #expect(try rows.text(0, 1) == "b ")
        #expect(try rows.text(0, 2) == "c")
        #expect(try rows.text(0, 3) == "{\"d\": 1}")
        #expect(try rows.textArray(0, 4) == ["e"])
    }

    @Test func `bytes are lent and appended without a copy of their own`() throws {
        var connection = try Way.direct.connect()
        let rows = try connection.query("SELECT 'abc'::text, NULL::text, 258::int4")
        var buffer = Array("x".utf8)
        #expect(try rows.append(0, 0, to: &buffer))
        #expect(try rows.append(0, 1, to: &buffer) == false)
        #expect(buffer == Array("xabc".utf8))
        let sum = try rows.withBytes(0, 2) { bytes in Int(bytes[2]) + Int(bytes[3]) }
        #expect(sum == 3)
        let none = try rows.withBytes(0, 1) { bytes in bytes.count }
        #expect(none == nil)
    }

    @Test(arguments: [
        (-1, "1969-12-31T23:59:59.999Z"), (0, "1970-01-01T00:00:00Z"),
        (946_684_799_999, "1999-12-31T23:59:59.999Z"),
    ])
    func `times agree with the server's`(milliseconds: Int64, text: String) throws {
        var connection = try Way.direct.connect()
        let rows = try connection.query(
            "SELECT $1 = $2::text::timestamptz, $2::text::timestamptz + interval '0.5 milliseconds'",
            [.timestampMilliseconds(milliseconds), .text(text)]
        )
        #expect(try rows.bool(0, 0))
        #expect(try rows.timestampMilliseconds(0, 1) == milliseconds)
    }
}

struct `Values that do not fit` {
    @Test func `a column of another type is an error that names it`() throws {
        var connection = try Way.direct.connect()
        let rows = try connection.query(
            "SELECT 'x' AS word, 1::int8 AS number, ARRAY['x'] AS words, 1.5::numeric AS price, 'infinity'::timestamptz AS never"
        )
        #expect(
            failure { () throws(PostgresError) in _ = try rows.int4(0, 0) }?.kind == .decoding(column: "word")
        )
        #expect(
            failure { () throws(PostgresError) in _ = try rows.int4(0, 1) }?.kind
                == .decoding(column: "number")
        )
        #expect(
            failure { () throws(PostgresError) in _ = try rows.int8Array(0, 2) }?.kind
                == .decoding(column: "words")
        )
        #expect(
            failure { () throws(PostgresError) in _ = try rows.textArray(0, 0) }?.kind
                == .decoding(column: "word")
        )
        #expect(
            failure { () throws(PostgresError) in _ = try rows.float8(0, 3) }?.kind
                == .decoding(column: "price")
        )
        #expect(
            failure { () throws(PostgresError) in _ = try rows.uuid(0, 0) }?.kind == .decoding(column: "word")
        )
        let never = failure { () throws(PostgresError) in _ = try rows.timestampMilliseconds(0, 4) }
        #expect(never?.kind == .decoding(column: "never"))
    }

    @Test func `a null where a value is due is an error`() throws {
        var connection = try Way.direct.connect()
        let rows = try connection.query("SELECT NULL::text AS nothing")
        #expect(
            failure { () throws(PostgresError) in _ = try rows.text(0, 0) }?.kind
                == .decoding(column: "nothing")
        )
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 0), (0, -1), (Int.max, 0), (0, Int.max)])
    func `a row or column that is not there is an error`(row: Int, column: Int) throws {
        var connection = try Way.direct.connect()
        let rows = try connection.query("SELECT 1::int4")
        #expect(failure { () throws(PostgresError) in _ = try rows.int4(row, column) } != nil)
        #expect(failure { () throws(PostgresError) in _ = try rows.isNull(row, column) } != nil)
        #expect(failure { () throws(PostgresError) in _ = try rows.textArray(row, column) } != nil)
    }

    @Test func `an array of two dimensions is an error`() throws {
        var connection = try Way.direct.connect()
        let rows = try connection.query("SELECT ARRAY[[1, 2], [3, 4]] AS grid")
        #expect(
            failure { () throws(PostgresError) in _ = try rows.int4Array(0, 0) }?.kind
                == .decoding(column: "grid")
        )
    }

    @Test(arguments: Way.allCases)
    func `text with a zero byte is an error before anything is sent`(way: Way) throws {
        var connection = try way.connect()
        let single = failure { () throws(PostgresError) in
            try connection.execute("SELECT $1, $2", [.int4(1), .text("a\0b")])
        }
        #expect(single?.kind == .parameter(number: 2))
        let array = ArrayParameter(text: ["a", "\0"])
        let many = failure { () throws(PostgresError) in try connection.execute("SELECT $1", [.array(array)])
        }
        #expect(many?.kind == .parameter(number: 1))
        var pipeline = Pipeline()
        pipeline.append("SELECT $1", [.text("\0")])
        #expect(
            failure { () throws(PostgresError) in _ = try connection.run(pipeline) }?.kind
                == .parameter(number: 1)
        )
        try connection.execute("SELECT 1")
    }

    @Test func `other values that cannot be sent are errors too`() throws {
        var connection = try Way.direct.connect()
        var mixed = ArrayParameter(of: .int4)
        mixed.append(text: "x")
        let cases: [Parameters.Value] = [.uuid([1, 2, 3]), .timestampMilliseconds(.max), .array(mixed)]
        for value in cases {
            let error = failure { () throws(PostgresError) in try connection.execute("SELECT $1", [value]) }
            #expect(error?.kind == .parameter(number: 1))
        }
    }

    @Test func `parameters can be emptied and filled again`() throws {
        var connection = try Way.direct.connect()
        var parameters = Parameters()
        parameters.append(text: "\0")
        parameters.removeAll()
        parameters.append(text: "fine")
        let rows = try connection.query("SELECT $1", parameters)
        #expect(try rows.text(0, 0) == "fine")
    }
}
