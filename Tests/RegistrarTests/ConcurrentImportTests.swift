import Postgres
import Push
import Registrar
import Sealing
import Support
import Synchronization
import Testing

@Suite struct ConcurrentImportTests {
    /// Two sessions take turns with the same devices for different users, in opposite orders, while a third moves their chains.
    @Test func `M2: two imports of the same devices at once end in one of the two orders, without deadlock`() throws {
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
                            check: RegistrationCheck(from: &connection, zone: "Europe/Berlin", encryption: .optional),
                            keys: KeyFile.read(keyFile)
                        )
                        let order = index == 0 ? Array(devices) : devices.reversed()
                        for device in order { try work.append(Line(user: user, pushkey: "device-\(device)").bytes) }
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
}
