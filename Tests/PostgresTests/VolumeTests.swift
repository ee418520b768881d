internal import Postgres
internal import Support
internal import Testing

struct `Many rows` {
    @Test(arguments: Way.allCases)
    func `a big result is read whole`(way: Way) throws {
        var connection = try way.connect()
        let rows = try connection.query(
            "SELECT n, repeat('x', 200) FROM generate_series(1, 100000) AS n",
            timeout: .seconds(120)
        )
        #expect(rows.count == 100_000)
        var sum: Int64 = 0
        var text: [UInt8] = []
        for row in 0..<rows.count {
            sum += try rows.int8(row, 0)
            text.removeAll(keepingCapacity: true)
            try rows.append(row, 1, to: &text)
        }
        #expect(sum == 5_000_050_000)
        #expect(text.count == 200)
    }

    @Test(arguments: Way.allCases)
    func `COPY takes ten thousand rows`(way: Way) throws {
        let table = try way.table("id int8 PRIMARY KEY, word text, data bytea, tags text[], at timestamptz")
        var connection = try way.connect()
        let added = try connection.copyIn("COPY \(table) FROM STDIN (FORMAT binary)") {
            (writer: inout CopyWriter) throws(PostgresError) in
            var tags = ArrayParameter(of: .text)
            for id in 0..<10_000 as Range<Int64> {
                tags.removeAll()
                tags.append(text: "t\(id % 7)")
                writer.append(int8: id)
                writer.append(text: id % 2 == 0 ? "word" : nil)
                writer.append(bytea: [UInt8](repeating: 1, count: Int(id % 100)))
                writer.append(tags)
                writer.append(timestampMilliseconds: id)
                try writer.endRow()
            }
        }
        #expect(added == 10_000)
        let rows = try connection.query(
            "SELECT count(*), count(word), sum(length(data)), max(tags), max(at) FROM \(table)"
        )
        #expect(try rows.int8(0, 0) == 10_000)
        #expect(try rows.int8(0, 1) == 5000)
        #expect(try rows.int8(0, 2) == 495_000)
        #expect(try rows.textArray(0, 3) == ["t6"])
        #expect(try rows.timestampMilliseconds(0, 4) == 9999)
    }

    @Test(arguments: Way.allCases)
    func `a failing row undoes the COPY and is named by its number`(way: Way) throws {
        let table = try way.table("id int8 PRIMARY KEY, CONSTRAINT small CHECK (id < 7000)")
        var connection = try way.connect()
        let error = failure { () throws(PostgresError) in
            try connection.copyIn("COPY \(table) FROM STDIN (FORMAT binary)") {
                (writer: inout CopyWriter) throws(PostgresError) in
                for id in 0..<10_000 as Range<Int64> {
                    writer.append(int8: id)
                    try writer.endRow()
                }
            }
        }
        #expect(error?.kind == .constraint(name: "small"))
        #expect(error?.copyRow == 7001)
        let rows = try connection.query("SELECT count(*) FROM \(table)")
        #expect(try rows.int8(0, 0) == 0)
    }

    @Test(arguments: Way.allCases)
    func `the caller calls a COPY off, or leaves a row out`(way: Way) throws {
        let table = try way.table("word text")
        var connection = try way.connect()
        let sql = "COPY \(table) FROM STDIN (FORMAT binary)"
        let off = failure { () throws(PostgresError) in
            try connection.copyIn(sql) { (writer: inout CopyWriter) throws(PostgresError) in
                writer.append(text: "a")
                try writer.endRow()
                throw PostgresError(.other, "enough")
            }
        }
        #expect(off == PostgresError(.other, "enough"))
        let added = try connection.copyIn(sql) { (writer: inout CopyWriter) throws(PostgresError) in
            for word in ["a", "b\0", "c"] {
                writer.append(text: word)
                let error = failure { () throws(PostgresError) in try writer.endRow() }
                #expect((error?.kind == .parameter(number: 1)) == (word == "b\0"))
            }
            writer.append(text: "not ended")
        }
        #expect(added == 2)
    }

    @Test func `fields of the wrong number or type are the server's error`() throws {
        let table = try Way.direct.table("id int8, word text")
        var connection = try Way.direct.connect()
        for fields in [1, 3] {
            let error = failure { () throws(PostgresError) in
                try connection.copyIn("COPY \(table) FROM STDIN (FORMAT binary)") {
                    (writer: inout CopyWriter) throws(PostgresError) in
                    for _ in 0..<fields { writer.append(int4: 1) }
                    try writer.endRow()
                }
            }
            #expect(error?.sqlState?.hasPrefix("22") == true)
            try connection.execute("SELECT 1")
        }
    }
}
