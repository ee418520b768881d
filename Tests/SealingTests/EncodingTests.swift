import Testing

@testable import Sealing

struct `Base64, hexadecimal and digests` {
    /// Source: RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `Base64 agrees with RFC 4648`(_ plain: String, _ encoded: String) {
        #expect(base64(Array(plain.utf8)) == encoded)
        #expect(unbase64(encoded) == Array(plain.utf8))
    }

    @Test
    func `Base64 of every pair of bytes and of every length comes back`() {
        for high in UInt8.min...UInt8.max {
            let bytes = (UInt8.min...UInt8.max).flatMap { [high, $0] }
            #expect(unbase64(base64(bytes)) == bytes)
        }
        for count in 0...70 {
            let bytes = (0..<count).map { UInt8($0 * 37 & 0xFF) }
            #expect(base64(bytes).utf8.count == Base64.encodedLength(count))
            #expect(unbase64(base64(bytes)) == bytes)
        }
        #expect(base64([UInt8](repeating: 0xFB, count: 1052)).utf8.count == 1404)
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zm=v", "Zg==Zg==", "Zm9v\n", " Zm9v", "Zm 9", "Zm9-",
        "Zm9_", "Zh==", "Zm9=", "Zm9vé",
        "Zm9v====",
    ])
    func `what is not strictly Base64 is refused and leaves the output alone`(_ text: String) {
        var output: [UInt8] = [1, 2, 3]
        #expect(!Base64.decode(Array(text.utf8).span, into: &output))
        #expect(output == [1, 2, 3])
    }

    @Test
    func `hexadecimal is lower case when written and either when read`() {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = Hex.text(bytes.span)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Hex.decode(text.utf8.span) == bytes)
        #expect(Hex.decode(text.uppercased().utf8.span) == bytes)
    }

    @Test(arguments: ["0", "0g", "g0", "0x", " 0", "00 ", "０0"])
    func `what is not hexadecimal is refused`(_ text: String) {
        #expect(Hex.decode(Array(text.utf8).span) == nil)
        var memory: InlineArray<1, UInt8> = [0]
        var span = memory.mutableSpan
        #expect(!Hex.decode("0011".utf8.span, into: &span))
    }

    /// Source: FIPS 180-4's published examples.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 agrees with its standard, in one go and in pieces`(
        _ text: String,
        _ expected: String
    ) throws {
        var digest = try Digest()
        #expect(Hex.text(try digest.sha256(text.utf8.span).span) == expected)
        for byte in text.utf8 { try digest.update([byte].span) }
        #expect(Hex.text(try digest.finish().span) == expected)
        try digest.update([1, 2, 3].span)
        #expect(Hex.text(try digest.sha256(text.utf8.span).span) == expected)
    }

    @Test
    func `fields carry their lengths`() throws {
        var digest = try Digest()
        try digest.updateField("ab".utf8.span)
        try digest.updateField("c".utf8.span)
        let fields = Hex.text(try digest.finish().span)
        #expect(fields == Hex.text(try digest.sha256([0, 0, 0, 2, 0x61, 0x62, 0, 0, 0, 1, 0x63].span).span))
    }

    private func base64(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        Base64.encode(bytes.span, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private func unbase64(_ text: String) -> [UInt8]? {
        var output: [UInt8] = []
        return Base64.decode(Array(text.utf8).span, into: &output) ? output : nil
    }
}
