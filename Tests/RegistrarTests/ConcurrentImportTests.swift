import LocalServices
import Postgres
import Push
import Registrar
import Sealing
import Support
import Synchronization
import Testing

@Suite struct ConcurrentImportTests {
    /// Two sessions take turns with the same devices for different users, in opposite orders, while a third moves their chains.
    @Test func `M2: two imports of the same devices at once end in one of the two orders, without deadlock`()
        throws
    {
        let fixture = try RegistrarFixture()
        let devices = 0..<300
        let url = fixture.url
        let keyFile = fixture.keyFile
        let failures = Mutex<[String]>([])
        let threads = ["alice", "bob"].enumerated().map { index, user in
            Background {
                do {
                    var connection = try Connection(connectingTo: Configuration(url))
                    for _ in 0..<5 {
                        var work = try PusherImport(
                            check: RegistrationCheck(
                                from: &connection,
                                zone: "Europe/Berlin",
                                encryption: .optional
                            ),
                            keys: KeyFile.read(keyFile)
                        )
                        let order = index == 0 ? Array(devices) : devices.reversed()
                        for device in order {
                            try work.append(Line(user: user, pushkey: "device-\(device)").bytes)
                        }
                        try work.flush(to: &connection)
                    }
                } catch {
                    failures.withLock { $0.append("\(user): \(error)") }
                }
            }
        }
        for thread in threads { try thread.value() }
        #expect(failures.withLock { $0 }.isEmpty)
        // Each device has exactly one user, and a batch wins as a whole: it was one transaction.
        let rows = try fixture.connection.query("SELECT DISTINCT user_id FROM pushers")
        #expect(rows.count == 1)
        #expect(try fixture.integer("SELECT count(*) FROM pushers") == 300)
    }

    /// The importer still has the old key file, so there is always something to re-seal.
    @Test func `P1: registering and re-sealing the same pushers at once neither deadlock nor lose a chain`()
        throws
    {
        let fixture = try RegistrarFixture()
        let oldFile = "\(fixture.folder.path)/old-keys"
        try Files.write(String(decoding: Files.read(fixture.keyFile) ?? [], as: UTF8.self), to: oldFile)
        _ = try KeyFile.generate(fixture.keyFile, id: "second")
        let (url, keyFile) = (fixture.url, fixture.keyFile)
        let isDone = Atomic<Bool>(false)
        let importer = Background { () -> String? in
            defer { isDone.store(true, ordering: .releasing) }
            return Self.failure {
                var connection = try Connection(connectingTo: Configuration(url))
                let check = try RegistrationCheck(
                    from: &connection,
                    zone: "Europe/Berlin",
                    encryption: .optional
                )
                for round in 0..<8 {
                    var work = try PusherImport(check: check, keys: KeyFile.read(oldFile))
                    for device in (0..<200).reversed() {
                        try work.append(
                            Line(user: "user-\(device)", pushkey: "device-\(device)", iss: UInt8(round)).bytes
                        )
                    }
                    try work.flush(to: &connection)
                }
            }
        }
        let resealed = Self.failure {
            var connection = try Connection(connectingTo: Configuration(url))
            while !isDone.load(ordering: .acquiring) {
                var resealer = try ChainResealer(keys: KeyFile.read(keyFile))
                let end = try resealer.run(on: &connection, batchLimit: 30) { _ in true }
                #expect(end.damaged == 0)
            }
        }
        #expect(try importer.value() == nil)
        #expect(resealed == nil)
        let last = try RegistrarFixture.firstGeneration(7, Month("2026-10")!)
        for device in 0..<200 { #expect(try fixture.open(fixture.stored("user-\(device)")) == last) }
    }

    private static func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }
}
