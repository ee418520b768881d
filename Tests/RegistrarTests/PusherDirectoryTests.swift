import Postgres
import Registrar
import Support
import Testing

@Suite struct PusherDirectoryTests {
    private func filled() throws -> RegistrarFixture {
        let fixture = try RegistrarFixture()
        try fixture.register(
            Line(user: "alice", pushkey: "1"),
            Line(user: "alice", pushkey: "2"),
            Line(user: "alice", app: "de.example.other.apns", pushkey: "1"),
            Line(user: "bob", pushkey: "3"),
            Line(user: "bob", pushkey: "4", url: "http://127.0.0.1:8080/push/v1/")
        )
        return fixture
    }

    @Test func `counting by what is given`() throws {
        let fixture = try filled()
        let counts: [(PusherFilter, Int64)] = [
            (PusherFilter(), 5), (PusherFilter(user: "alice"), 3),
            (PusherFilter(app: "de.example.app.apns"), 4),
            (PusherFilter(user: "alice", app: "de.example.app.apns"), 2),
            (PusherFilter(gateway: "http://127.0.0.1:8080"), 1), (PusherFilter(user: "' OR true --"), 0),
        ]
        for (filter, count) in counts {
            #expect(try PusherDirectory.count(filter, in: &fixture.connection) == count, "\(filter)")
        }
    }

    @Test func `removing one device, and all of a user`() throws {
        let fixture = try filled()
        #expect(
            try PusherDirectory.remove(
                user: "alice",
                device: (app: "de.example.app.apns", pushkey: "1"),
                from: &fixture.connection
            ) == 1
        )
        #expect(try PusherDirectory.remove(user: "alice", device: nil, from: &fixture.connection) == 2)
        #expect(try PusherDirectory.remove(user: "alice", device: nil, from: &fixture.connection) == 0)
        #expect(try fixture.pushers().count == 2)
    }

    @Test func `a filter prints without the pushkey`() {
        #expect(!"\(PusherFilter(user: "a", pushkey: "hidden"))".contains("hidden"))
    }
}
