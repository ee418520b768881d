import Lines
import LocalServices
import Testing

@Suite struct LineReaderTests {
    private func read(_ text: String, limit: Int = 10) throws -> [String] {
        let folder = try TemporaryFolder()
        try Files.write(text, to: "\(folder.path)/lines")
        var reader = try LineReader("\(folder.path)/lines", limit: limit)
        var line: [UInt8] = []
        var lines: [String] = []
        while let kind = try reader.next(into: &line) {
            lines.append(
                "\(reader.number):" + (kind == .tooLong ? "too long" : String(decoding: line, as: UTF8.self))
            )
        }
        #expect(reader.position == Int64(text.utf8.count))
        #expect(reader.size == Int64(text.utf8.count))
        return lines
    }

    @Test(arguments: [
        ("", []), ("\n", []), ("a", ["1:a"]), ("a\n", ["1:a"]), ("a\nb", ["1:a", "2:b"]),
        ("a\n\n\r\nb\r\n", ["1:a", "4:b"]), ("0123456789\n", ["1:0123456789"]),
        ("01234567890\nb\n", ["1:too long", "2:b"]), ("01234567890", ["1:too long"]),
    ])
    func `lines come as they are, numbered`(text: String, expected: [String]) throws {
        #expect(try read(text) == expected)
    }

    @Test(arguments: [262_142, 262_143, 262_144, 262_145, 600_000])
    func `a line that reaches over blocks is whole`(length: Int) throws {
        let long = String(repeating: "x", count: length)
        #expect(try read(long + "\nend\n", limit: 1 << 20) == ["1:" + long, "2:end"])
        #expect(try read(long + "\nend\n", limit: 100) == ["1:too long", "2:end"])
    }

    @Test func `a file that is not there is said so by name`() {
        let error = #expect(throws: LineError.self) { _ = try LineReader("/nowhere/lines") }
        #expect("\(error!)" == "/nowhere/lines cannot be read: No such file or directory")
    }

    @Test func `a folder cannot be read`() throws {
        var reader = try LineReader("/")
        var line: [UInt8] = []
        #expect(throws: LineError.self) { _ = try reader.next(into: &line) }
    }
}
