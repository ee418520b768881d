import Testing

@testable import Sealing

struct `Sealed chains` {
    private static let old = "old " + String(repeating: "11", count: 32)
    private static let new = "new " + String(repeating: "22", count: 32)
    private let material = [UInt8](0..<64)
    private let binding = ChainBinding(
        pusherHigh: 0x0102_0304_0506_8708,
        pusherLow: 0x890A_0B0C_0D0E_0F10,
        month: 24_286
    )

    @Test
    func `a chain opens for its pusher and month only`() throws {
        var seal = try seal(Self.new)
        var random = RandomSource()
        var sealed: [UInt8] = []
        try seal.seal(material.span, bound: binding, random: &random, into: &sealed)
        #expect(sealed.count == 92 && ChainSeal.sealedLength == 92)
        #expect(try open(&seal, sealed, "new", binding) == material)
        for other in [
            ChainBinding(pusherHigh: 0x0102_0304_0506_8709, pusherLow: 0x890A_0B0C_0D0E_0F10, month: 24_286),
            ChainBinding(pusherHigh: 0x0102_0304_0506_8708, pusherLow: 0x890A_0B0C_0D0E_0F11, month: 24_286),
            ChainBinding(pusherHigh: 0x0102_0304_0506_8708, pusherLow: 0x890A_0B0C_0D0E_0F10, month: 24_287),
        ] {
            #expect(throws: SealingError.notAuthentic) { try open(&seal, sealed, "new", other) }
        }
    }

    @Test
    func `the associated data is the pusher's id and the month, big-endian`() throws {
        let bytes = binding.bytes
        #expect(Hex.text(bytes.span) == "0102030405068708890a0b0c0d0e0f10" + "00005ede")
    }

    @Test
    func `several keys open side by side, and resealing moves a chain to the active one`() throws {
        var before = try seal(Self.old)
        var random = RandomSource()
        var sealed: [UInt8] = []
        try before.seal(material.span, bound: binding, random: &random, into: &sealed)
        var after = try seal(Self.new + "\n" + Self.old)
        #expect(after.activeID == "new" && after.ids == ["new", "old"])
        #expect(try open(&after, sealed, "old", binding) == material)
        #expect(throws: SealingError.notAuthentic) { try open(&after, sealed, "new", binding) }
        var moved: [UInt8] = []
        try after.reseal(sealed, under: "old", bound: binding, random: &random, into: &moved)
        #expect(try open(&after, moved, "new", binding) == material)
        #expect(try open(&after, sealed, "old", binding) == material)
        #expect(throws: SealingError.unknownKey("new")) { try open(&before, moved, "new", binding) }
    }

    @Test
    func `after an unknown key the known ones still open`() throws {
        var seal = try seal(Self.new + "\n" + Self.old)
        var random = RandomSource()
        var old = try self.seal(Self.old)
        var sealed: [UInt8] = []
        try old.seal(material.span, bound: binding, random: &random, into: &sealed)
        #expect(try open(&seal, sealed, "old", binding) == material)
        #expect(throws: SealingError.unknownKey("lost")) { try open(&seal, sealed, "lost", binding) }
        #expect(try open(&seal, sealed, "old", binding) == material)
    }

    @Test(arguments: [0, 91, 93])
    func `another length is refused`(_ count: Int) throws {
        var seal = try seal(Self.new)
        #expect(throws: SealingError.wrongLength(count)) {
            try open(&seal, [UInt8](repeating: 0, count: count), "new", binding)
        }
    }

    private func seal(_ text: String) throws -> ChainSeal {
        try ChainSeal(ring: try KeyRing(parsing: text.utf8.span))
    }

    private func open(
        _ seal: inout ChainSeal,
        _ sealed: [UInt8],
        _ id: String,
        _ binding: ChainBinding
    ) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: 64)
        var span = output.mutableSpan
        try seal.open(sealed.span, under: id, bound: binding, into: &span)
        return output
    }
}

extension ChainSeal {
    fileprivate mutating func reseal(
        _ sealed: [UInt8],
        under id: String,
        bound binding: ChainBinding,
        random: inout RandomSource,
        into output: inout [UInt8]
    ) throws {
        try reseal(sealed.span, under: id, bound: binding, random: &random, into: &output)
    }
}
