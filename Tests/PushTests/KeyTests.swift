import Testing

@testable import Push

/// Stands in for HKDF: mixes secret and info so that every step depends on all before it.
struct MixingDeriver: KeyDeriving {
    var infos: [String] = []
    var failsAfter = Int.max

    mutating func derive(
        secret: Span<UInt8>,
        info: Span<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) throws(KeyChainError) {
        guard infos.count < failsAfter, secret.count == 32, output.count == 64 else {
            throw .derivationFailed
        }
        var text: [UInt8] = []
        for index in info.indices { text.append(info[index]) }
        infos.append(String(decoding: text, as: UTF8.self))
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for index in secret.indices { state = (state ^ UInt64(secret[index])) &* 0x100_0000_01B3 }
        for index in output.indices {
            state = (state ^ UInt64(index)) &* 0x100_0000_01B3
            output[index] = UInt8(truncatingIfNeeded: state >> 32)
        }
    }
}

struct KeyTests {
    private func secret() throws -> InitialSecret {
        try #require(InitialSecret(text: String(repeating: "0f", count: 32)))
    }

    private func first(_ month: String, _ deriver: inout MixingDeriver) throws -> KeyGeneration {
        try KeyGeneration(initialSecret: secret(), month: #require(Month(month)), using: &deriver)
    }

    @Test func `the first generation is the month of the initial secret`() throws {
        var deriver = MixingDeriver()
        let generation = try first("2023-10", &deriver)
        #expect(generation.month.description == "2023-10")
        #expect(deriver.infos == ["2023-10"])
    }

    @Test func `R7 a gap is derived month by month`() throws {
        var deriver = MixingDeriver()
        var generation = try first("2023-11", &deriver)
        #expect(try generation.advance(to: #require(Month("2024-01")), using: &deriver) == 2)
        #expect(deriver.infos == ["2023-11", "2023-12", "2024-01"])
        var other = MixingDeriver()
        var stepwise = try first("2023-11", &other)
        try stepwise.advance(to: #require(Month("2023-12")), using: &other)
        try stepwise.advance(to: #require(Month("2024-01")), using: &other)
        #expect(generation.withMaterial(bytes) == stepwise.withMaterial(bytes))
    }

    @Test func `a chain that is ahead keeps its own month`() throws {
        var deriver = MixingDeriver()
        var generation = try first("2024-02", &deriver)
        let before = generation.withMaterial(bytes)
        #expect(try generation.advance(to: #require(Month("2024-01")), using: &deriver) == 0)
        #expect(generation.month.description == "2024-02")
        #expect(generation.withMaterial(bytes) == before)
    }

    @Test func `R8 a jump beyond the limit is refused before the first step`() throws {
        var deriver = MixingDeriver()
        var generation = try first("2024-01", &deriver)
        let start = generation.month
        #expect(throws: KeyChainError.tooFarAhead(from: start, to: start + 121, limit: 120)) {
            try generation.advance(to: start + 121, using: &deriver)
        }
        #expect(generation.month == start)
        #expect(deriver.infos.count == 1)
        #expect(try generation.advance(to: start + 120, using: &deriver) == 120)
    }

    @Test func `a failed step keeps the steps before it`() throws {
        var deriver = MixingDeriver(failsAfter: 3)
        var generation = try first("2024-01", &deriver)
        let target = generation.month + 5
        #expect(throws: KeyChainError.derivationFailed) {
            try generation.advance(to: target, using: &deriver)
        }
        #expect(generation.month.description == "2024-03")
        deriver.failsAfter = .max
        try generation.advance(to: target, using: &deriver)
        var other = MixingDeriver()
        var whole = try first("2024-01", &other)
        try whole.advance(to: target, using: &other)
        #expect(generation.withMaterial(bytes) == whole.withMaterial(bytes))
    }

    @Test func `stored keys load into the same memory`() throws {
        var deriver = MixingDeriver()
        var lane = try first("2023-10", &deriver)
        let stored = (0..<64).map { UInt8($0) }
        lane.load(month: try #require(Month("2024-05"))) { target in
            for index in target.indices { target[index] = stored[index] }
        }
        #expect(lane.month.description == "2024-05")
        #expect(lane.withKey(bytes) == Array(stored[32...]))
        #expect(lane.withMaterial(bytes) == stored)
    }

    @Test func `a load that fails leaves zeros`() throws {
        struct Failure: Error {}
        var deriver = MixingDeriver()
        var lane = try first("2023-10", &deriver)
        let month = lane.month
        #expect(throws: Failure.self) {
            try lane.load(month: month) { (_: inout MutableSpan<UInt8>) throws(Failure) in throw Failure() }
        }
        #expect(lane.withMaterial(bytes) == Array(repeating: 0, count: 64))
    }

    @Test func `R7 a receiver keeps the newest keys and those of the month before`() throws {
        var deriver = MixingDeriver()
        let october = try first("2023-10", &deriver)
        let chain = try KeyChain(newest: october).advanced(to: #require(Month("2023-11")), using: &deriver)
        #expect(chain.months.map(\.description) == ["2023-10", "2023-11"])
        let later = try chain.advanced(to: #require(Month("2024-01")), using: &deriver)
        #expect(later.months.map(\.description) == ["2023-12", "2024-01"])
        #expect(chain.months.map(\.description) == ["2023-10", "2023-11"])
        #expect(try later.withKey(of: #require(Month("2023-11")), bytes) == nil)
        #expect(try later.withKey(of: #require(Month("2023-12")), bytes) != nil)
        let idle = try later.advanced(to: later.month + 14, using: &deriver)
        #expect(idle.months == [later.month + 13, later.month + 14])
        #expect(try later.advanced(to: later.month - 1, using: &deriver).months == later.months)
        let unreachable = later.month + 3
        #expect(throws: KeyChainError.self) {
            _ = try later.advanced(to: unreachable, limit: 2, using: &deriver)
        }
    }

    @Test(arguments: [
        "", "0f", String(repeating: "0", count: 63), String(repeating: "0", count: 65),
        String(repeating: "g", count: 64),
    ])
    func `an initial secret is 64 hexadecimal digits`(text: String) {
        #expect(InitialSecret(text: text) == nil)
    }

    @Test func `secrets print as redacted`() throws {
        let secret = try secret()
        var dumped = ""
        dump(secret, to: &dumped)
        dump(
            RegisteredKeys(initialSecret: secret, month: try #require(Month("2024-01")), identifier: nil),
            to: &dumped
        )
        #expect("\(secret)" == "redacted")
        #expect(!dumped.contains("15"))
        #expect(!dumped.contains("0f0f"))
    }

    @Test func `wiping leaves zeros`() {
        let bytes = WipedBytes<32>()
        bytes.withMutableBytes { span in for index in span.indices { span[index] = 7 } }
        bytes.wipe()
        #expect(bytes.withBytes { span in span.indices.allSatisfy { span[$0] == 0 } })
    }
}
