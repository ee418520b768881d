import Testing

@testable import JSON

struct `Values from the reader` {
    @Test(arguments: [
        (#""plain""#, "plain"), (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"),
        (#""\u00e4\u20AC""#, "ä€"),
        (#""x\ud83d\ude00y""#, "x😀y"), (#""\u0000""#, "\u{0}"), ("\"ä€😀\"", "ä€😀"), (#""€\n€""#, "€\n€"),
    ])
    func `a string is unescaped`(_ text: String, _ expected: String) throws {
        #expect(try read(text) { reader throws(ReadError) in try reader.readString() } == expected)
        #expect(
            try read(text) { reader throws(ReadError) in try reader.readStringBytes() }
                == Array(expected.utf8)
        )
    }

    @Test
    func `the limit of a string counts its bytes after unescaping`() throws {
        #expect(
            try read(#""\u0061\u0062""#) { reader throws(ReadError) in try reader.readString(limit: 2) }
                == "ab"
        )
        #expect(
            failure(#""abc""#) { reader throws(ReadError) in _ = try reader.readString(limit: 2) }
                == .stringTooLong
        )
        #expect(
            failure(#""€""#) { reader throws(ReadError) in _ = try reader.readStringBytes(limit: 2) }
                == .stringTooLong
        )
    }

    @Test(arguments: [
        ("0", 0), ("-0", 0), ("42", 42), ("9223372036854775807", Int64.max),
        ("-9223372036854775808", Int64.min), ("-1", -1),
    ])
    func `a whole number is exact`(_ text: String, _ expected: Int64) throws {
        #expect(try read(text) { reader throws(ReadError) in try reader.readInt64() } == expected)
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "1.0", "1e2", "99999999999999999999999999",
    ])
    func `what is no whole number of 64 bits is refused`(_ text: String) {
        #expect(failure(text) { reader throws(ReadError) in _ = try reader.readInt64() } == .numberOutOfRange)
    }

    @Test
    func `numbers of other shapes keep their text or become the nearest double`() throws {
        let long = "123456789012345678901234567890.5"
        #expect(try read(long) { reader throws(ReadError) in try reader.readNumberText() } == long)
        #expect(try read("-2.5e-3") { reader throws(ReadError) in try reader.readDouble() } == -0.0025)
        #expect(
            failure("1e999") { reader throws(ReadError) in _ = try reader.readDouble() } == .numberOutOfRange
        )
        #expect(
            failure("5") { reader throws(ReadError) in _ = try reader.readInt64(in: 1...4) }
                == .numberOutOfRange
        )
    }

    @Test
    func `nullable readers tell null from a value`() throws {
        var seen: [String?] = []
        var flags: [Bool?] = []
        var numbers: [Int64?] = []
        try read(#"[null,"a",null,true,null,7]"#) { reader throws(ReadError) in
            var index = 0
            try reader.readArray { reader throws(ReadError) in
                switch index / 2 {
                case 0: seen.append(try reader.readNullableString())
                case 1: flags.append(try reader.readNullableBool())
                default:
                    numbers.append(
                        try reader.readNullable { reader throws(ReadError) in try reader.readInt64() }
                    )
                }
                index += 1
            }
        }
        #expect(seen == [nil, "a"] && flags == [nil, true] && numbers == [nil, 7])
    }

    @Test
    func `members left alone are skipped and names compare as bytes, escaped or not`() throws {
        var results = 0
        var names: [String] = []
        try read(#"{"other":{"results":[1,{"x":[]}]},"r\u0065sults":[1,2],"longer-than-results":"€"}"#) {
            reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                names.append(name.text)
                switch name {
                case "results": try reader.readArray { _ in results += 1 }
                case "result": Issue.record("a prefix is another name")
                default: break
                }
            }
        }
        #expect(results == 2)
        #expect(names == ["other", "results", "longer-than-results"])
    }

    @Test
    func `a raw value is the bytes as they stand, without white space around them`() throws {
        let text = #"{"data": {"b" : [1, 2], "a":"\u20ac"}  , "z":1 }"#
        let raw = try read(text) { reader throws(ReadError) in
            var raw: [UInt8] = []
            try reader.readObject { name, reader throws(ReadError) in
                if name == "data" { raw = try reader.readRawBytes() }
            }
            return raw
        }
        #expect(String(decoding: raw, as: UTF8.self) == #"{"b" : [1, 2], "a":"\u20ac"}"#)
    }

    @Test
    func `a part of a buffer is a document of its own`() throws {
        let bytes = Array(#"xx{"a":1}yy"#.utf8)
        let value = try Reader.read(bytes, in: 2..<9) { reader throws(ReadError) in
            var value: Int64 = 0
            try reader.readObject { _, reader throws(ReadError) in value = try reader.readInt64() }
            return value
        }
        #expect(value == 1)
        #expect(throws: ReadError.self) {
            try Reader.read(bytes, in: 2..<8) { reader throws(ReadError) in try reader.skipValue() }
        }
    }

    @Test
    func `an error tells path and byte and never content`() {
        let text = #"{"pusher":{"data":{"url":17,"x":"secret"}}}"#
        let error = fault(text) { reader throws(ReadError) in
            try reader.readObject { _, reader throws(ReadError) in
                try reader.readObject { _, reader throws(ReadError) in
                    try reader.readObject { name, reader throws(ReadError) in
                        if name == "url" { _ = try reader.readString() }
                    }
                }
            }
        }
        #expect(error == ReadError(.expected(.string), offset: 25, path: "pusher.data.url"))
        #expect(error?.description == "pusher.data.url: expected a string (byte 25)")
    }

    @Test
    func `a path counts elements, and a stranger's name in it is made harmless`() {
        let error = fault(#"{"results":[1,{"a b\u001b[31m":"x"},[0,?]]}"#) { reader throws(ReadError) in
            try reader.skipValue()
        }
        #expect(error?.path == "results[2][1]")
        let odd = fault("{\"a b\\u001b\(String(repeating: "x", count: 100))\":?}") {
            reader throws(ReadError) in try reader.skipValue()
        }
        #expect(odd?.path == "a?b?" + String(repeating: "x", count: 36))
    }

    @Test
    func `the caller's own refusals name the value, and a missing member`() {
        let refused = fault(#"{"month": "2024-13"}"#) { reader throws(ReadError) in
            try reader.readObject { _, reader throws(ReadError) in
                _ = try reader.readString()
                throw reader.unacceptable("not a month")
            }
        }
        #expect(refused == ReadError(.unacceptable("not a month"), offset: 10, path: "month"))
        let missing = fault(#"{"device":{}}"#) { reader throws(ReadError) in
            try reader.readObject { _, reader throws(ReadError) in
                try reader.readObject { _, _ in }
                throw reader.missing("pushkey")
            }
        }
        #expect(missing == ReadError(.missing, offset: 10, path: "device.pushkey"))
    }

    private func read<Value>(
        _ text: String,
        _ body: (inout Reader) throws(ReadError) -> Value
    ) throws(ReadError) -> Value {
        try Reader.read(Array(text.utf8), body)
    }

    private func fault(_ text: String, _ body: (inout Reader) throws(ReadError) -> Void) -> ReadError? {
        do throws(ReadError) {
            try Reader.read(Array(text.utf8), body)
            return nil
        } catch {
            return error
        }
    }

    private func failure(
        _ text: String,
        _ body: (inout Reader) throws(ReadError) -> Void
    ) -> ReadError.Reason? {
        fault(text, body)?.reason
    }
}
