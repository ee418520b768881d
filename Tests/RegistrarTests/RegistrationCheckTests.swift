import Postgres
import Push
import Registrar
import Support
import Testing

@Suite struct RegistrationCheckTests {
    @Test(

        arguments: [
            "http://169.254.169.254/push/v1/", "https://127.0.0.1:6379/push/v1/",
            "https://[::ffff:10.0.0.1]/push/v1/",
            "https://localhost/push/v1/", "https://10.0.0.1/push/v1/", "https://other.example/push/v1/",
            "http://gateway.example/push/v1/", "https://gateway.example:8443/push/v1/",
            "https://gateway.example@evil.example/push/v1/",
            "https://gateway.example/push/v1/../../x/push/v1/",
            "https://gateway.example/push/v1/?x=/push/v1/", "https://gateway.example/push/v1/notify",
            "https://gateway.example/push/v2/", "https://old.example/push/v1/",
            "ftp://gateway.example/push/v1/",
            "https://gateway.example%2eevil.example/push/v1/", "https://0x7f000001/push/v1/", "",
        ]
    )
    func `M3: addresses that no device may name`(url: String) throws {
        let fixture = try RegistrarFixture()
        var work = try fixture.newImport()
        let error = #expect(throws: RegistrationError.self) { try work.append(Line(url: url).bytes) }
        #expect(error?.field == "pusher.data.url")
        #expect(work.waiting == 0)
    }

    @Test func `a private gateway on the list is allowed as its entry says`() throws {
        let fixture = try RegistrarFixture()
        let tally = try fixture.register(Line(url: "http://127.0.0.1:8080/push/v1/"))
        #expect(tally.written == 1)
    }

    @Test func `every limit and rule names its field`() throws {
        let fixture = try RegistrarFixture()
        let cases: [(Line, String)] = [
            (Line(user: ""), "user"),
            (Line(user: String(repeating: "u", count: 129)), "user"),
            (Line(app: String(repeating: "a", count: 65)), "pusher.app_id"),
            (Line(app: ""), "pusher.app_id"),
            (Line(pushkey: String(repeating: "p", count: 513)), "pusher.pushkey"),
            (Line(pushkey: String(repeating: "ä", count: 257)), "pusher.pushkey"),
            (Line(pushkey: ""), "pusher.pushkey"),
            (Line(month: "2026-13"), "pusher.encryption.time_iss_created"),
            (Line(month: "2026-1"), "pusher.encryption.time_iss_created"),
            (Line(month: "2099-12"), "pusher.encryption.time_iss_created"),
            (Line(month: "2026-12"), "pusher.encryption.time_iss_created"),
            (Line(month: "2024-09"), "pusher.encryption.time_iss_created"),
            (Line(keyIdentifier: nil), "pusher.encryption.key_identifier"),
            (Line(keyIdentifier: String(repeating: "k", count: 129)), "pusher.encryption.key_identifier"),
            (Line(channels: #""unknown":"enabled""#), "channels.unknown"),
            (Line(channels: #""news":"on""#), "channels.news"),
            (Line(channels: #""news":"enabled","news":"disabled""#), "channels.news"),
            (Line(url: "https://old.example/push/v1/notify", iss: nil), "pusher.encryption"),
            (Line(extra: #","kind":"email""#), "pusher.kind"),
            (Line(extra: #","lang":"xx""#), "pusher.lang"),
            (Line(extra: #","profile_tag":5"#), "pusher.profile_tag"),
            (Line(extra: #","append":"yes""#), "pusher.append"),
        ]
        for (line, field) in cases {
            var work = try fixture.newImport()
            let error = #expect(throws: RegistrationError.self, "\(field)") { try work.append(line.bytes) }
            #expect(error?.field == field)
        }
    }

    @Test func `the longest that is allowed fits into the database too`() throws {
        let fixture = try RegistrarFixture()
        let tally = try fixture.register(
            Line(
                user: String(repeating: "u", count: 128),
                app: String(repeating: "ä", count: 64),
                pushkey: String(repeating: "ä", count: 256),
                month: "2026-11",
                keyIdentifier: String(repeating: "k", count: 128),
                extra: #","profile_tag":"\#(String(repeating: "t", count: 256))""#
            ),
            Line(user: "old", month: "2024-10")
        )
        #expect(tally.written == 2)
    }

    @Test func `the month is the database's`() throws {
        let fixture = try RegistrarFixture()
        try fixture.setMonth(Month("2027-03")!)
        #expect(try fixture.register(Line(month: "2027-04")).written == 1)
        try fixture.connection.executeScript(
            "CREATE OR REPLACE FUNCTION current_month(zone text) RETURNS integer LANGUAGE sql STABLE RETURN 5"
        )
        #expect(throws: RegistrarError.impossibleMonth(5)) { _ = try fixture.newImport() }
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"user":"a"}"#, #"{"pusher":{}}"#, "\u{feff}{}",
        #"{"user":"a","pusher":null}"#,
    ])
    func `what is no line of an import is refused`(text: String) throws {
        let fixture = try RegistrarFixture()
        var work = try fixture.newImport()
        #expect(throws: RegistrationError.self) { try work.append(Array(text.utf8)) }
    }

    @Test func `an error never holds what was registered`() throws {
        let fixture = try RegistrarFixture()
        var work = try fixture.newImport()
        let secret = String(repeating: "s3cr3t", count: 100)
        let error = #expect(throws: RegistrationError.self) { try work.append(Line(pushkey: secret).bytes) }
        #expect(!"\(error!)".contains("s3cr3t"))
    }

    @Test func `encryption may be required or forbidden`() throws {
        let fixture = try RegistrarFixture()
        let required = try RegistrationCheck(from: &fixture.connection, zone: "UTC", encryption: .required)
        let forbidden = try RegistrationCheck(from: &fixture.connection, zone: "UTC", encryption: .forbidden)
        #expect(throws: RegistrationError.self) { _ = try required.read(Line(iss: nil).bytes) }
        #expect(throws: RegistrationError.self) { _ = try forbidden.read(Line().bytes) }
        _ = try required.read(Line().bytes)
        _ = try forbidden.read(Line(iss: nil).bytes)
    }

    @Test func `refreshing takes in new gateways and channels`() throws {
        let fixture = try RegistrarFixture()
        var check = try RegistrationCheck(from: &fixture.connection, zone: "UTC", encryption: .optional)
        let line = Line(url: "https://new.example/push/v1/", channels: #""fresh":"enabled""#)
        #expect(throws: RegistrationError.self) { _ = try check.read(line.bytes) }
        _ = try GatewayDirectory.add(
            GatewayEntry(origin: GatewayOrigin("https://new.example")),
            to: &fixture.connection
        )
        _ = try ChannelDirectory.add(ChannelChange(id: "fresh"), to: &fixture.connection)
        try check.refresh(from: &fixture.connection)
        _ = try check.read(line.bytes)
    }
}
