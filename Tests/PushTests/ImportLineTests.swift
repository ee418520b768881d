import Testing

@testable import Push

struct ImportLineTests {
    private static func line(
        user: String = #""X110411675""#,
        pusher: String? = nil,
        channels: String? = nil
    ) -> [UInt8] {
        let pusher = pusher ?? String(decoding: PusherRegistrationTests.body(), as: UTF8.self)
        return Array(
            "{\"user\":\(user),\"pusher\":\(pusher)\(channels.map { ",\"channels\":\($0)" } ?? "")}".utf8
        )
    }

    private static func read(_ line: [UInt8]) throws -> ImportLine {
        try ImportLine(line, rules: PusherRegistrationTests.rules())
    }

    @Test func `a line is a user, a registration and channels`() throws {
        let line = try Self.read(Self.line(channels: #"{"erp.task":"enabled","b":"disabled","c":"not_set"}"#))
        #expect(line.user == "X110411675")
        #expect(line.channels.map(\.channel) == ["erp.task", "b", "c"])
        #expect(line.channels.map(\.status) == [.enabled, .disabled, .notSet])
        guard case .set = line.command else {
            Issue.record("not a registration")
            return
        }
        #expect(try Self.read(Self.line()).channels.isEmpty)
        #expect(try Self.read(Self.line(channels: "null")).channels.isEmpty)
    }

    @Test(
        arguments: [
            (#"{"pusher":{"kind":null,"app_id":"a","pushkey":"k"}}"#, "user"), (#"{"user":"u"}"#, "pusher"),
            (#"{"user":5}"#, "user"), (#"{"user":"a b"}"#, "user"), (#"{"user":"u","pusher":[]}"#, "pusher"),
            (#"{"user":"u","pusher":{}}"#, "pusher.kind"),
            (#"{"user":"u","pusher":{"kind":"http","app_id":1}}"#, "pusher.app_id"),
        ]
    )
    func `a fault is named from the line's point of view`(text: String, field: String) {
        let error = #expect(throws: RegistrationError.self) { _ = try Self.read(Array(text.utf8)) }
        #expect(error?.field == field)
    }

    @Test(arguments: [
        #"{"a":"on"}"#, #"{"a":true}"#, #"{"a b":"enabled"}"#, #"{"a":"enabled","a":"disabled"}"#, #"["a"]"#,
    ])
    func `channels are ids with one of three states`(channels: String) {
        let error = #expect(throws: RegistrationError.self) {
            _ = try Self.read(Self.line(channels: channels))
        }
        #expect(error?.field.hasPrefix("channels") == true)
        #expect(error?.kind == .invalid)
    }

    @Test func `a user has 128 bytes at most, a line 256 channels`() throws {
        let user = String(repeating: "u", count: 128)
        _ = try Self.read(Self.line(user: "\"\(user)\""))
        #expect(throws: RegistrationError.self) { _ = try Self.read(Self.line(user: "\"\(user)u\"")) }
        func channels(_ count: Int) -> String {
            "{" + (0..<count).map { "\"c\($0)\":\"enabled\"" }.joined(separator: ",") + "}"
        }
        #expect(try Self.read(Self.line(channels: channels(256))).channels.count == 256)
        #expect(throws: RegistrationError.self) { _ = try Self.read(Self.line(channels: channels(257))) }
    }

    @Test func `a pusher goes only to a gateway of the list, in its dialect`() throws {
        let pusher = try PusherRegistrationTests.parse()
        let listed = GatewayEntry(origin: pusher.url.origin)
        try pusher.check(against: listed)
        for entry in [
            nil, GatewayEntry(origin: try GatewayOrigin("https://other.de")),
            GatewayEntry(origin: pusher.url.origin, dialect: .concept2024),
        ] {
            let error = #expect(throws: RegistrationError.self) {
                try pusher.check(against: entry, prefix: "pusher.")
            }
            #expect(error?.field == "pusher.data.url")
            #expect(error?.kind == .invalid)
        }
        let unnamed = try PusherRegistrationTests.parse([
            "encryption": PusherRegistrationTests.encryption(["key_identifier": nil])
        ])
        let error = #expect(throws: RegistrationError.self) { try unnamed.check(against: listed) }
        #expect(error?.field == "encryption.key_identifier")
        #expect(error?.kind == .missing)
    }

    @Test func `M3 an address inside needs the entry's leave`() throws {
        let pusher = try PusherRegistrationTests.parse(["data": #"{"url":"http://127.0.0.1:8080/push/v1/"}"#])
        let origin = pusher.url.origin
        try pusher.check(against: GatewayEntry(origin: origin, allowsPrivate: true, allowsInsecure: true))
        for entry in [
            GatewayEntry(origin: origin, allowsPrivate: true),
            GatewayEntry(origin: origin, allowsInsecure: true), GatewayEntry(origin: origin),
        ] {
            #expect(throws: RegistrationError.self) { try pusher.check(against: entry) }
        }
    }

    @Test func `the dialect of the concept needs keys but no key identifier`() throws {
        let url = #"{"url":"https://a.de/_matrix/push/v1/notify"}"#
        let encryption = PusherRegistrationTests.encryption(["key_identifier": nil])
        let pusher = try PusherRegistrationTests.parse(["data": url, "encryption": encryption])
        let entry = GatewayEntry(origin: pusher.url.origin, dialect: .concept2024)
        try pusher.check(against: entry)
        let plain = try PusherRegistrationTests.parse(["data": url, "encryption": nil])
        let error = #expect(throws: RegistrationError.self) { try plain.check(against: entry) }
        #expect(error?.field == "encryption")
    }
}
