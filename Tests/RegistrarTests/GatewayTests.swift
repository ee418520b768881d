import LocalServices
import Postgres
import Push
import Registrar
import Support
import Testing

@Suite struct GatewayTests {
    @Test func `an entry is added, replaced and listed`() throws {
        let fixture = try RegistrarFixture()
        let origin = try GatewayOrigin("https://new.example:8443")
        let file = "\(fixture.folder.path)/ca.pem"
        try Files.write("-----BEGIN CERTIFICATE-----", to: file)
        var entry = GatewayEntry(origin: origin, dialect: .concept2024)
        #expect(try GatewayDirectory.add(entry, to: &fixture.connection) == .added)
        #expect(try GatewayDirectory.add(entry, to: &fixture.connection) == .unchanged)
        entry = GatewayEntry(
            origin: origin,
            caFile: file,
            clientCertificateFile: file,
            clientKeyFile: file
        )
        #expect(try GatewayDirectory.add(entry, to: &fixture.connection) == .replaced)
        let listing = try GatewayDirectory.list(from: &fixture.connection).first { $0.entry.origin == origin }
        #expect(listing?.entry == entry)
        #expect(listing?.pushers == 0)
    }

    @Test func `a list notices changes and nothing else`() throws {
        let fixture = try RegistrarFixture()
        var list = try GatewayList(from: &fixture.connection)
        let origin = try GatewayOrigin("https://gateway.example")
        #expect(list[origin]?.dialect == .gematik12)
        #expect(try list[GatewayOrigin("https://elsewhere.example")] == nil)
        #expect(try !list.refresh(from: &fixture.connection))
        #expect(list.version == 0)
        _ = try GatewayDirectory.add(
            GatewayEntry(origin: origin, allowsPrivate: true),
            to: &fixture.connection
        )
        #expect(try list.refresh(from: &fixture.connection))
        #expect(list.version == 1)
        #expect(list[origin]?.allowsPrivate == true)
    }

    @Test func `a gateway with pushers can neither be removed nor be given another dialect`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(Line(), Line(user: "other", pushkey: "2"))
        let origin = try GatewayOrigin("https://gateway.example")
        let refusal = #expect(throws: RegistrarError.self) {
            try GatewayDirectory.remove(origin, from: &fixture.connection)
        }
        #expect("\(refusal!)" == "https://gateway.example cannot be removed: 2 pushers are registered there")
        #expect(throws: RegistrarError.self) {
            _ = try GatewayDirectory.add(
                GatewayEntry(origin: origin, dialect: .concept2024),
                to: &fixture.connection
            )
        }
        try fixture.connection.execute("DELETE FROM pushers")
        try GatewayDirectory.remove(origin, from: &fixture.connection)
        #expect(throws: RegistrarError.unknownGateway(origin: origin.text)) {
            try GatewayDirectory.remove(origin, from: &fixture.connection)
        }
    }

    @Test(arguments: [
        "https://127.0.0.1", "https://localhost", "https://10.1.2.3:8443", "https://[::1]",
        "https://192.168.0.1",
        "https://169.254.169.254", "https://[fd00::1]", "http://gateway2.example",
    ])
    func `private and plain origins need to be allowed`(origin: String) throws {
        let fixture = try RegistrarFixture()
        var entry = GatewayEntry(origin: try GatewayOrigin(origin))
        #expect(throws: RegistrarError.self) { _ = try GatewayDirectory.add(entry, to: &fixture.connection) }
        entry.allowsInsecure = true
        #expect(throws: RegistrarError.self) { _ = try GatewayDirectory.add(entry, to: &fixture.connection) }
        entry.allowsPrivate = true
        #expect(try GatewayDirectory.add(entry, to: &fixture.connection) == .added)
    }

    @Test func `files must be there, readable and come in pairs`() throws {
        let fixture = try RegistrarFixture()
        let origin = try GatewayOrigin("https://new.example")
        let folder = fixture.folder.path
        try Files.write("x", to: "\(folder)/key.pem")
        try Files.write("", to: "\(folder)/empty.pem")
        let entries = [
            GatewayEntry(origin: origin, caFile: "\(folder)/missing.pem"),
            GatewayEntry(origin: origin, caFile: "\(folder)/empty.pem"),
            GatewayEntry(origin: origin, caFile: folder),
            GatewayEntry(origin: origin, caFile: "relative.pem"),
            GatewayEntry(origin: origin, clientCertificateFile: "\(folder)/key.pem"),
            GatewayEntry(origin: origin, clientKeyFile: "\(folder)/key.pem"),
        ]
        for entry in entries {
            #expect(throws: RegistrarError.self) {
                _ = try GatewayDirectory.add(entry, to: &fixture.connection)
            }
        }
    }
}
