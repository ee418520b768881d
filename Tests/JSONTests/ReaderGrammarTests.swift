import Testing

@testable import JSON

/// Documents that RFC 8259 allows and ones that it does not, each through the path that checks everything
/// without looking at anything.
struct `The grammar of the reader` {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "1.5", "-12.25e-3", "1E+10", "1e5", "\"\"", "\"a\"", "[]", "{}",
        " [ ] ",
        "\t\r\n{ \"a\" : [ 1 , 2 ] } ", "[[[[]]]]", "{\"a\":{\"b\":{\"c\":null}}}",
        "\"\\u0041\\n\\/\\\"\\\\\\b\\f\\r\\t\"",
        "\"\\ud83d\\ude00\"", "\"\\uD83D\\uDE00\"", "\"\\u0000\"", "\"ä€😀\"", "\"\u{7F}\"", "\"\u{10FFFF}\"",
        "{\"\":0}",
        "100000000000000000000000000000000000000000", "1e99999", "[1,\"2\",null,true,{}]",
        "{\"a\":1,\"A\":2}",
    ])
    func `a well-formed document is accepted`(_ text: String) throws {
        try skip(Array(text.utf8))
    }

    @Test(arguments: [
        "", " ", "nul", "nulL", "nulll", "True", "tru", "'a'", "01", "-", "-01", "+1", "1.", ".5", "1.e5",
        "1e", "1e+", "0x10",
        "00", "NaN", "Infinity", "-Infinity", "1 2", "{}{}", "[] x", "[", "]", "{", "}", "[1", "[1,", "[1,]",
        "[,1]", "[1 2]",
        "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{1:2}", "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":}", "{null:1}", "[1}", "{\"a\":1]", "\"", "\"abc", "\"\\\"", "\"\\x\"", "\"\\u\"",
        "\"\\u12\"", "\"\\u12G4\"",
        "\"\\u 123\"", "\"\\U0041\"", "\"a\nb\"", "\"a\tb\"", "\"\u{0}\"", "\"\u{1F}\"", "\u{FEFF}null",
        "// c\n1", "/* c */1", "[1,,2]",
        "\u{0B}1", "\u{A0}1", "nu\u{0}ll", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
        "{\"\\u0061\":1,\"a\":2}",
        "[{\"k\":{\"a\":1,\"b\":2,\"a\":3}}]",
    ])
    func `a malformed document is refused`(_ text: String) {
        #expect(throws: ReadError.self) { try skip(Array(text.utf8)) }
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x9F, 0x80],
            [0xE2, 0x82], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFF],
            [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28],
        ] as [[UInt8]]
    )
    func `bytes that are not UTF-8 are refused in values and names`(_ bytes: [UInt8]) {
        let quoted = [0x22] + bytes + [0x22]
        #expect(reason(quoted) == .invalidUTF8)
        #expect(reason([0x7B] + quoted + Array(":1}".utf8)) == .invalidUTF8)
    }

    @Test(arguments: [
        "\\ud800", "\\udc00", "\\ud800\\ud800", "\\ud800x", "\\udfff\\ud800", "\\ud83d\\n", "\\ud83d\\u0041",
    ])
    func `half a surrogate pair is refused`(_ text: String) {
        #expect(reason(Array("\"\(text)\"".utf8)) == .loneSurrogate)
    }

    @Test
    func `every prefix of a document is refused and none traps`() throws {
        let whole = Array(#"{"a":[1.5e3,"\ud83d\ude00\n€",{"b":null}],"c":true}"#.utf8)
        try skip(whole)
        for length in 0..<whole.count {
            #expect(throws: ReadError.self) { try skip(Array(whole[..<length])) }
        }
    }

    @Test
    func `every byte in the place of another is an answer and not a trap`() {
        let whole = Array(#"{"a":[1.5e3,"\ud83d\u0041€",{"b":null}],"c":true}"#.utf8)
        var refused = 0
        for index in whole.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = whole
                changed[index] = byte
                do { try skip(changed) } catch { refused += 1 }
            }
        }
        #expect(refused > 10_000)
    }

    @Test
    func `nesting is bounded`() throws {
        let limits = Limits(depth: 32)
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        try skip(nested(32), limits)
        #expect(reason(nested(33), limits) == .tooDeep)
        #expect(reason(Array(repeating: UInt8(ascii: "["), count: 1_000_000), limits) == .tooDeep)
        #expect(reason(Array(String(repeating: #"{"a":"#, count: 100_000).utf8), limits) == .tooDeep)
    }

    @Test
    func `size, members, elements and strings are bounded`() throws {
        let limits = Limits(documentBytes: 40, members: 2, elements: 3, stringBytes: 4)
        try skip(Array(#"[1,2,3]"#.utf8), limits)
        try skip(Array(#"{"a":"1234","bbbb":2}"#.utf8), limits)
        #expect(reason(Array(#"[1,2,3,4]"#.utf8), limits) == .tooManyElements)
        #expect(reason(Array(#"{"a":1,"b":2,"c":3}"#.utf8), limits) == .tooManyMembers)
        #expect(reason(Array(#"{"a":"12345"}"#.utf8), limits) == .stringTooLong)
        #expect(reason(Array(#"{"12345":1}"#.utf8), limits) == .stringTooLong)
        #expect(reason(Array(String(repeating: " ", count: 40).utf8) + [0x31], limits) == .documentTooLarge)
    }

    @Test
    func `names may repeat where that is allowed, and in different objects always`() throws {
        try skip(Array(#"{"a":1,"a":2}"#.utf8), Limits(allowsDuplicateNames: true))
        try skip(Array(#"{"a":{"a":1},"b":{"a":2}}"#.utf8))
    }

    private func skip(_ bytes: [UInt8], _ limits: Limits = Limits()) throws {
        try Reader.read(bytes, limits: limits) { reader throws(ReadError) in try reader.skipValue() }
    }

    private func reason(_ bytes: [UInt8], _ limits: Limits = Limits()) -> ReadError.Reason? {
        do throws(ReadError) {
            try Reader.read(bytes, limits: limits) { reader throws(ReadError) in try reader.skipValue() }
            return nil
        } catch {
            return error.reason
        }
    }
}
