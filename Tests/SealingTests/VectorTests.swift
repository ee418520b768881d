import Testing

@testable import Sealing

struct `The published vectors` {
    @Test
    func `every generation of the chain is derived as written`() throws {
        var derivation = try KeyDerivation()
        var secret = Vectors.all.initialSecret
        try #require(Vectors.all.chain.count == 5)
        for generation in Vectors.all.chain {
            let material = try derive(&derivation, secret, generation.month)
            #expect(material == generation.secret + generation.key, "\(generation.month)")
            secret = generation.secret
        }
    }

    @Test
    func `there are twenty sealed messages`() {
        #expect(Vectors.all.messages.count == 20)
    }

    @Test(arguments: Vectors.all.messages)
    func `a message is sealed byte for byte as written, and opens`(_ message: Vectors.Message) throws {
        var cipher = try Cipher()
        try cipher.setKey(Vectors.all.key(of: message.month).span)
        var sealed: [UInt8] = []
        try cipher.seal(message.plaintext.span, fixedIV: message.iv.span, into: &sealed)
        var text: [UInt8] = []
        Base64.encode(sealed.span, into: &text)
        #expect(text == message.ciphertext)
        var decoded: [UInt8] = []
        #expect(Base64.decode(message.ciphertext.span, into: &decoded))
        var opened: [UInt8] = []
        try cipher.open(decoded.span, into: &opened)
        #expect(opened == message.plaintext)
    }

    @Test(arguments: ["activate", "dispense"])
    func `what another implementation sealed opens`(_ name: String) throws {
        let text =
            name == "activate" ? PackageResources.interop_activate_b64 : PackageResources.interop_dispense_b64
        var sealed: [UInt8] = []
        #expect(Base64.decode(Array(text.prefix(1404)).span, into: &sealed))
        var cipher = try Cipher()
        try cipher.setKey(Vectors.all.key(of: "2023-10").span)
        var opened: [UInt8] = []
        try cipher.open(sealed.span, into: &opened)
        let payload =
            "{\"ChannelId\": \"erp.task.\(name)\", \"Identifier\": \"Task.identifier.PrescriptionID\", \"IdentifierType\": \"TaskId\"}"
        #expect(opened.count == 1024)
        #expect(opened.prefix(6) == [0x50, 0x4E, 0x4D, 0x31, 0x03, 0x8C])
        #expect(String(decoding: opened.suffix(110), as: UTF8.self) == payload)
    }

    /// Source: RFC 5869, appendix A.3 (empty salt and info) and A.1 does not apply, since it has a salt.
    @Test
    func `HKDF agrees with RFC 5869 where the salt is empty`() throws {
        var derivation = try KeyDerivation()
        let secret = [UInt8](repeating: 0x0B, count: 22)
        var output = [UInt8](repeating: 0, count: 42)
        var span = output.mutableSpan
        try derivation.derive(secret: secret.span, info: Span(), into: &span)
        #expect(
            Hex.text(output.span)
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        )
    }

    @Test
    func `a derivation is the same whatever was derived before`() throws {
        var derivation = try KeyDerivation()
        let secret = [UInt8](1...32)
        let first = try derive(&derivation, secret, "2023-10")
        _ = try derive(&derivation, [UInt8](repeating: 9, count: 80), "a longer info than the one of a month")
        #expect(try derive(&derivation, secret, "2023-10") == first)
        #expect(try derive(&derivation, secret, "2023-11") != first)
    }

    private func derive(
        _ derivation: inout KeyDerivation,
        _ secret: [UInt8],
        _ info: String
    ) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: 64)
        var span = output.mutableSpan
        try derivation.derive(secret: secret.span, info: info.utf8.span, into: &span)
        return output
    }
}
