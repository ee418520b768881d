import Testing

@testable import JSON

struct `The writer` {
    @Test
    func `sets commas by itself`() {
        var writer = Writer()
        writer.object { writer in
            writer.member("a", 1)
            writer.name("b")
            writer.array { writer in
                writer.integer(-5)
                writer.object { _ in }
                writer.array { _ in }
                writer.null()
                writer.bool(true)
                writer.raw(Array(#"{"x":[]}"#.utf8))
                writer.double(0.5)
            }
            writer.member("c", false)
            writer.name(escaping: "q\"")
            writer.string(utf8: Array("ä".utf8))
        }
        #expect(text(writer) == #"{"a":1,"b":[-5,{},[],null,true,{"x":[]},0.5],"c":false,"q\"":"ä"}"#)
    }

    @Test
    func `escapes what a string cannot hold, and nothing else`() throws {
        for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init(_:)) + [
            "\u{2028}", "\u{FFFD}", "\u{10FFFF}",
        ] {
            let value = "x\(Character(scalar))y"
            var writer = Writer()
            writer.string(value)
            #expect(
                try Reader.read(writer.bytes) { reader throws(ReadError) in try reader.readString() } == value
            )
            var fromBytes = Writer()
            fromBytes.string(utf8: Array(value.utf8))
            #expect(fromBytes.bytes == writer.bytes)
            #expect(
                (writer.bytes.count > value.utf8.count + 2)
                    == (scalar.value < 0x20 || scalar == "\"" || scalar == "\\")
            )
        }
    }

    @Test
    func `bytes that are no UTF-8 never make a malformed document`() throws {
        var writer = Writer()
        writer.string(utf8: [0x61, 0xFF, 0xED, 0xA0, 0x80, 0x22])
        let value = try Reader.read(writer.bytes) { reader throws(ReadError) in try reader.readString() }
        #expect(value.hasPrefix("a\u{FFFD}") && value.hasSuffix("\""))
    }

    @Test(arguments: [Int64.min, -10, -1, 0, 9, 10, 1_234_567_890, Int64.max])
    func `writes whole numbers exactly`(_ value: Int64) {
        var writer = Writer()
        writer.integer(value)
        #expect(text(writer) == String(value))
    }

    @Test(arguments: [
        0.1, -1.5e-300, 1e21, 12345.0, Double.greatestFiniteMagnitude, Double.leastNonzeroMagnitude,
    ])
    func `writes doubles so that they read back the same`(_ value: Double) throws {
        var writer = Writer()
        writer.double(value)
        #expect(
            try Reader.read(writer.bytes) { reader throws(ReadError) in try reader.readDouble() } == value
        )
    }

    @Test
    func `what is no finite number is null`() {
        var writer = Writer()
        writer.array { writer in
            writer.double(.nan)
            writer.double(.infinity)
        }
        #expect(text(writer) == "[null,null]")
    }

    @Test
    func `goes on behind what the buffer holds, and line after line`() {
        var writer = Writer(appendingTo: Array("data: ".utf8))
        writer.object { $0.member("a", "b") }
        writer.endLine()
        writer.object { _ in }
        #expect(text(writer) == "data: {\"a\":\"b\"}\n{}")
        writer.removeAll()
        writer.integer(1)
        #expect(text(writer) == "1")
    }

    private func text(_ writer: Writer) -> String {
        String(decoding: writer.bytes, as: UTF8.self)
    }
}
