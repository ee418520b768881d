import Testing

@testable import Sealing

struct `The cipher` {
    private let key = [UInt8](0..<32)
    private let data = Array("pusher and month".utf8)

    @Test(arguments: [0, 1, 15, 16, 17, 64, 1024, 100_000])
    func `opens what it sealed and appends to what is there`(_ count: Int) throws {
        var cipher = try Cipher()
        var random = RandomSource()
        try cipher.setKey(key.span)
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var sealed: [UInt8] = [7, 7]
        try cipher.seal(plaintext.span, authenticating: data.span, random: &random, into: &sealed)
        #expect(sealed.count == 2 + 12 + count + 16)
        var opened: [UInt8] = [9]
        try cipher.open(Array(sealed.dropFirst(2)).span, authenticating: data.span, into: &opened)
        #expect(opened == [9] + plaintext)
    }

    @Test
    func `a key given with the message is the key that opens it, and stays set`() throws {
        var cipher = try Cipher()
        var random = RandomSource()
        try cipher.setKey([UInt8](1...32).span)
        var sealed: [UInt8] = []
        try cipher.seal([1, 2, 3].span, under: key.span, random: &random, into: &sealed)
        var opened: [UInt8] = []
        try cipher.open(sealed.span, into: &opened)
        var other = try Cipher()
        try other.setKey(key.span)
        try other.open(sealed.span, into: &opened)
        #expect(opened == [1, 2, 3, 1, 2, 3])
    }

    @Test
    func `every changed bit is noticed and nothing unproven comes out`() throws {
        var cipher = try Cipher()
        let sealed = try sealed("a message", &cipher)
        for index in sealed.indices {
            for bit in 0..<8 {
                var forged = sealed
                forged[index] ^= 1 << bit
                var opened: [UInt8] = [1]
                #expect(throws: SealingError.notAuthentic) {
                    try cipher.open(forged.span, authenticating: data.span, into: &opened)
                }
                #expect(opened == [1])
            }
        }
        var opened: [UInt8] = []
        try cipher.open(sealed.span, authenticating: data.span, into: &opened)
        #expect(opened == Array("a message".utf8))
    }

    @Test
    func `another key, other associated data, or none, do not open it`() throws {
        var cipher = try Cipher()
        let sealed = try sealed("a message", &cipher)
        var opened: [UInt8] = []
        #expect(throws: SealingError.notAuthentic) { try cipher.open(sealed.span, into: &opened) }
        #expect(throws: SealingError.notAuthentic) {
            try cipher.open(sealed.span, authenticating: Array("pusher and monti".utf8).span, into: &opened)
        }
        try cipher.setKey([UInt8](1...32).span)
        #expect(throws: SealingError.notAuthentic) {
            try cipher.open(sealed.span, authenticating: data.span, into: &opened)
        }
        #expect(opened.isEmpty)
    }

    @Test
    func `too few bytes are refused before anything is done with them`() throws {
        var cipher = try Cipher()
        try cipher.setKey(key.span)
        for count in 0..<28 {
            var opened: [UInt8] = []
            #expect(throws: SealingError.wrongLength(count)) {
                try cipher.open([UInt8](repeating: 0, count: count).span, into: &opened)
            }
        }
    }

    @Test
    func `memory given for a plaintext is zeros after a failure, and must fit`() throws {
        var cipher = try Cipher()
        var forged = try sealed("a message", &cipher)
        forged[14] ^= 1
        var memory = [UInt8](repeating: 0xAA, count: 9)
        #expect(throws: SealingError.notAuthentic) {
            var span = memory.mutableSpan
            try cipher.open(forged.span, authenticating: data.span, into: &span)
        }
        #expect(memory == [UInt8](repeating: 0, count: 9))
        var small = [UInt8](repeating: 0, count: 8)
        #expect(throws: SealingError.wrongLength(37)) {
            var span = small.mutableSpan
            try cipher.open(forged.span, authenticating: data.span, into: &span)
        }
    }

    @Test
    func `sealing, opening and failing take turns on one context`() throws {
        var cipher = try Cipher()
        var random = RandomSource()
        for round in 0..<50 {
            try cipher.setKey([UInt8](repeating: UInt8(round), count: 32).span)
            var sealed: [UInt8] = []
            try cipher.seal(data.span, random: &random, into: &sealed)
            var opened: [UInt8] = []
            #expect(throws: SealingError.notAuthentic) {
                try cipher.open(sealed.span, authenticating: data.span, into: &opened)
            }
            try cipher.open(sealed.span, into: &opened)
            #expect(opened == data)
        }
    }

    private func sealed(_ text: String, _ cipher: inout Cipher) throws -> [UInt8] {
        var random = RandomSource()
        var sealed: [UInt8] = []
        try cipher.setKey(key.span)
        try cipher.seal(Array(text.utf8).span, authenticating: data.span, random: &random, into: &sealed)
        return sealed
    }
}
