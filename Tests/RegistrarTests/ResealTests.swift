import KeyChains
import LocalServices
import Postgres
import Push
import Registrar
import Sealing
import Support
import Testing

@Suite struct ResealTests {
    private func filled(_ count: Int = 25) throws -> RegistrarFixture {
        let fixture = try RegistrarFixture()
        try fixture.register(
            (0..<count).map { Line(user: "user-\(100 + $0)", pushkey: "key-\($0)", iss: UInt8($0)) }
        )
        _ = try KeyFile.generate(fixture.keyFile, id: "second")
        return fixture
    }

    private func resealer(_ fixture: RegistrarFixture) throws -> ChainResealer {
        try ChainResealer(keys: KeyFile.read(fixture.keyFile))
    }

    @Test func `all chains end under the active key with the same keys inside`() throws {
        let fixture = try filled()
        try fixture.register(Line(user: "new", pushkey: "new", iss: 77))
        try fixture.register(Line(user: "plain", pushkey: "plain", iss: nil))
        var resealer = try resealer(fixture)
        let end = try resealer.run(on: &fixture.connection, batchLimit: 10) { _ in true }
        #expect(end == ChainResealer.Progress(resealed: 25))
        #expect(try KeyUsage.all(from: &fixture.connection) == [KeyUsage(keyID: "second", chains: 26)])
        for index in 0..<25 {
            let stored = try fixture.stored("user-\(100 + index)")
            #expect(stored.keyID == "second")
            #expect(
                try fixture.open(stored) == RegistrarFixture.firstGeneration(UInt8(index), Month("2026-10")!)
            )
        }
    }

    @Test func `an interrupted run is continued by another`() throws {
        let fixture = try filled()
        var first = try resealer(fixture)
        let stopped = try first.run(on: &fixture.connection, batchLimit: 10) { $0.resealed < 10 }
        #expect(stopped.resealed == 10)
        #expect(
            try KeyUsage.all(from: &fixture.connection) == [
                KeyUsage(keyID: "first", chains: 15), KeyUsage(keyID: "second", chains: 10),
            ]
        )
        var second = try resealer(fixture)
        let end = try second.run(on: &fixture.connection, batchLimit: 10) { _ in true }
        #expect(end.resealed == 15)
        #expect(try KeyUsage.all(from: &fixture.connection) == [KeyUsage(keyID: "second", chains: 25)])
        var third = try resealer(fixture)
        #expect(try third.run(on: &fixture.connection) { _ in true }.resealed == 0)
    }

    /// A worker that still has the old key file moves a chain after the batch was read and before it is written.
    @Test func `a chain that is moved meanwhile is not lost`() throws {
        let fixture = try filled(3)
        let stored = try fixture.stored("user-101")
        let (moved, material) = try next(fixture, stored)
        var worker = try fixture.anotherConnection()
        try worker.executeScript("BEGIN")
        let parameters: Parameters = [.int4((stored.month! + 1).ordinal), .bytea(moved)]
        try worker.execute(
            "UPDATE pushers SET chain_month = $1, chain_sealed = $2 WHERE user_id = 'user-101'",
            parameters
        )
        let (url, keyFile) = (fixture.url, fixture.keyFile)
        let run = Background { () -> String in
            do {
                var connection = try Connection(connectingTo: Configuration(url))
                var resealer = try ChainResealer(keys: KeyFile.read(keyFile))
                return "\(try resealer.run(on: &connection) { _ in true }.resealed)"
            } catch {
                return "\(error)"
            }
        }
        try eventually("the resealer waits for the worker's row") {
            try fixture.integer("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0
        }
        try worker.executeScript("COMMIT")
        #expect(try run.value() == "3")
        let after = try fixture.stored("user-101")
        #expect(after.keyID == "second")
        #expect(after.month == Month("2026-11"))
        #expect(try fixture.open(after) == material)
    }

    /// The chain a month later under the first key, as a worker writes it; and what is in it.
    private func next(
        _ fixture: RegistrarFixture,
        _ stored: RegistrarFixture.Stored
    ) throws -> (sealed: [UInt8], material: [UInt8]) {
        let lines = String(decoding: Files.read(fixture.keyFile) ?? [], as: UTF8.self).split(separator: "\n")
        let oldFile = "\(fixture.folder.path)/old-keys"
        try Files.write(String(lines[1]) + "\n", to: oldFile)
        let opened = try fixture.open(stored)
        var generation = KeyGeneration(month: stored.month!) { span in
            for index in 0..<64 { span[index] = opened[index] }
        }
        var deriver = try ChainDeriver()
        try generation.advance(to: stored.month! + 1, using: &deriver)
        var chains = try ChainSeal(ring: KeyFile.read(oldFile))
        var random = RandomSource()
        var sealed: [UInt8] = []
        var material: [UInt8] = []
        try generation.withMaterial { (bytes: Span<UInt8>) throws(SealingError) in
            for index in 0..<bytes.count { material.append(bytes[index]) }
            try chains.seal(
                bytes,
                bound: ChainBinding(stored.pusher, stored.month! + 1),
                random: &random,
                into: &sealed
            )
        }
        return (sealed, material)
    }

    @Test func `what does not open and what has no key is counted and left`() throws {
        let fixture = try filled(5)
        try fixture.connection.executeScript(
            """
            UPDATE pushers SET chain_sealed = set_byte(chain_sealed, 20, get_byte(chain_sealed, 20) # 1) WHERE user_id = 'user-101';
            UPDATE pushers SET chain_key_id = 'lost' WHERE user_id = 'user-102';
            """
        )
        var resealer = try resealer(fixture)
        let end = try resealer.run(on: &fixture.connection, batchLimit: 2) { _ in true }
        #expect(end.resealed == 3)
        #expect(end.damaged == 1)
        #expect(end.missingKeys == ["lost"])
    }
}
