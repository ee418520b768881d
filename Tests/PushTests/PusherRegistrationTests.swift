import JSON
import Testing

@testable import Push

struct PusherRegistrationTests {
    static let month = "2024-11"
    static let members: [(String, String)] = [
        ("kind", #""http""#), ("app_id", #""de.gematik.erp.apns""#), ("pushkey", #""token""#),
        ("app_display_name", #""E-Rezept""#), ("device_display_name", #""iPhone""#), ("lang", #""de""#),
        ("data", #"{"url":"https://push.example.de/push/v1/"}"#),
        (
            "encryption",
            #"{"method":"aes-hmac-sha256","time_iss_created":"2024-10","iss":"\#(String(repeating: "0f", count: 32))","key_identifier":"k1"}"#
        ),
    ]

    static func body(_ changes: [String: String?] = [:]) -> [UInt8] {
        var parts: [String] = []
        for (name, value) in members {
            guard let value = changes[name, default: value] else { continue }
            parts.append("\"\(name)\":\(value)")
        }
        for (name, value) in changes where !members.contains(where: { $0.0 == name }) {
            if let value { parts.append("\"\(name)\":\(value)") }
        }
        return Array("{\(parts.joined(separator: ","))}".utf8)
    }

    static func rules(_ encryption: RegistrationRules.EncryptionRule = .optional) throws -> RegistrationRules
    {
        RegistrationRules(currentMonth: try #require(Month(month)), encryption: encryption)
    }

    static func parse(_ changes: [String: String?] = [:]) throws -> PusherRegistration {
        guard case .set(let pusher) = try PusherCommand(body: body(changes), rules: rules()) else {
            throw RegistrationError(.invalid, field: "kind", "is null")
        }
        return pusher
    }

    static func fault(_ changes: [String: String?]) -> RegistrationError? {
        #expect(throws: RegistrationError.self) { _ = try parse(changes) }
    }

    static func string(_ count: Int, of character: String = "a") -> String {
        "\"" + String(repeating: character, count: count) + "\""
    }

    static func encryption(_ changes: [String: String?]) -> String {
        var members = [
            "method": #""aes-hmac-sha256""#, "time_iss_created": #""2024-10""#, "iss": string(64, of: "0"),
            "key_identifier": #""k""#,
        ]
        for (name, value) in changes { members[name] = value }
        return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    @Test func `a registration is read whole`() throws {
        let pusher = try Self.parse(["profile_tag": #""x""#, "append": "true", "unknown": "[1]"])
        #expect(pusher.address == PusherAddress(appID: "de.gematik.erp.apns", pushkey: "token"))
        #expect(pusher.appDisplayName == "E-Rezept")
        #expect(pusher.deviceDisplayName == "iPhone")
        #expect(pusher.language == "de")
        #expect(pusher.profileTag == "x")
        #expect(pusher.url.text == "https://push.example.de/push/v1/")
        #expect(pusher.data == nil)
        #expect(pusher.append)
        let keys = try #require(pusher.keys)
        #expect(keys.month.description == "2024-10")
        #expect(keys.identifier == "k1")
        #expect(keys.initialSecret.withBytes { span in span.indices.allSatisfy { span[$0] == 0x0F } })
        #expect(try !Self.parse().append)
    }

    @Test(arguments: ["kind", "app_id", "pushkey", "app_display_name", "device_display_name", "lang", "data"])
    func `a field that is missing is named`(name: String) {
        let error = Self.fault([name: nil])
        #expect(error?.kind == .missing)
        #expect(error?.field == name)
    }

    @Test(
        arguments: [
            ("pushkey", 512), ("app_id", 64), ("app_display_name", 256), ("device_display_name", 256),
            ("lang", 64),
            ("profile_tag", 256),
        ]
    )
    func `every text has a limit`(name: String, limit: Int) throws {
        _ = try Self.parse([name: Self.string(limit)])
        let error = Self.fault([name: Self.string(limit + 1)])
        #expect(error?.kind == .invalid)
        #expect(error?.field == name)
    }

    @Test func `a pushkey is measured in bytes, an app id in characters`() throws {
        _ = try Self.parse(["app_id": Self.string(64, of: "ü"), "pushkey": Self.string(256, of: "ü")])
        #expect(Self.fault(["app_id": Self.string(65, of: "ü")])?.field == "app_id")
        #expect(Self.fault(["pushkey": Self.string(257, of: "ü")])?.field == "pushkey")
    }

    @Test(
        arguments: [
            ("kind", #""email""#), ("kind", "1"), ("app_id", "null"), ("app_id", #""""#), ("app_id", "5"),
            ("pushkey", #""""#),
            ("pushkey", #""a\u0000b""#), ("pushkey", #"["a"]"#), ("lang", #""""#),
            ("app_display_name", "null"),
            ("device_display_name", #""a\nb""#), ("append", #""true""#), ("data", "null"), ("data", "[]"),
            ("encryption", "[]"),
            ("profile_tag", "7"),
        ]
    )
    func `a value that is not allowed names its field`(name: String, value: String) {
        let error = Self.fault([name: value])
        #expect(error?.kind == .invalid)
        #expect(error?.field == name)
    }

    @Test(
        arguments: [
            (#"{"url":"http//x"}"#, RegistrationError.Kind.invalid), (#"{"url":null}"#, .invalid),
            ("{}", .missing),
            (#"{"format":"event_id_only"}"#, .missing), (#"{"url":"https://u@a.de/push/v1/"}"#, .invalid),
            (#"{"url":"https://a.de/%70ush/v1/"}"#, .invalid),
            (#"{"url":"https://a.de/push/v1/?a"}"#, .invalid),
        ]
    )
    func `the URL is part of data and named so`(data: String, kind: RegistrationError.Kind) {
        let error = Self.fault(["data": data])
        #expect(error?.kind == kind)
        #expect(error?.field == "data.url")
    }

    @Test func `what else is in data is forwarded as it is, without white space`() throws {
        let data =
            #"{ "format" : "event_id_only", "url":"https://a.de/push/v1/", "n":[1.50, {"a\"": null}], "t":"\u00e9\/" }"#
        let pusher = try Self.parse(["data": data])
        #expect(
            pusher.data.map { String(decoding: $0, as: UTF8.self) }
                == #"{"format":"event_id_only","n":[1.50,{"a\"":null}],"t":"é/"}"#
        )
        let room = PusherRegistration.dataLimit - #"{"a":""}"#.utf8.count
        _ = try Self.parse(["data": #"{"url":"https://a.de/push/v1/","a":\#(Self.string(room))}"#])
        #expect(
            Self.fault(["data": #"{"url":"https://a.de/push/v1/","a":\#(Self.string(room + 1))}"#])?.field
                == "data"
        )
    }

    @Test(arguments: ["method", "time_iss_created", "iss"])
    func `encryption is whole or absent`(name: String) {
        let error = Self.fault(["encryption": Self.encryption([name: nil])])
        #expect(error?.kind == .missing)
        #expect(error?.field == "encryption.\(name)")
    }

    @Test(
        arguments: [
            ("method", #""aes-hmac-sha2""#), ("method", "1"), ("iss", string(63, of: "0")),
            ("iss", string(65, of: "0")),
            ("iss", string(64, of: "g")), ("iss", "null"), ("time_iss_created", #""2024-1""#),
            ("time_iss_created", #""2024-13""#),
            ("time_iss_created", #""0001-01""#), ("time_iss_created", #""2099-12""#),
            ("time_iss_created", #""2025-01""#),
            ("time_iss_created", #""2022-10""#), ("key_identifier", #""""#), ("key_identifier", string(129)),
        ]
    )
    func `R8 keys that are not sound name their field`(name: String, value: String) {
        let error = Self.fault(["encryption": Self.encryption([name: value])])
        #expect(error?.kind == .invalid)
        #expect(error?.field == "encryption.\(name)")
        #expect(error?.description.contains("000") == false)
    }

    @Test(arguments: ["2024-12", "2024-11", "2022-11"])
    func `R8 a secret is at most two years old and a month ahead`(month: String) throws {
        let pusher = try Self.parse(["encryption": Self.encryption(["time_iss_created": "\"\(month)\""])])
        #expect(pusher.keys?.month.description == month)
    }

    @Test func `the service decides whether messages are sealed`() throws {
        let without = Self.body(["encryption": nil])
        let missing = #expect(throws: RegistrationError.self) {
            _ = try PusherCommand(body: without, rules: Self.rules(.required))
        }
        #expect(missing?.field == "encryption" && missing?.kind == .missing)
        let refused = #expect(throws: RegistrationError.self) {
            _ = try PusherCommand(body: Self.body(), rules: Self.rules(.forbidden))
        }
        #expect(refused?.field == "encryption" && refused?.kind == .invalid)
        #expect(try Self.parse(["encryption": "null"]).keys == nil)
    }

    @Test func `kind null removes and needs the address only`() throws {
        let text = #"{"app_id":"a","data":5,"pushkey":"k","kind":null}"#
        guard case .remove(let address) = try PusherCommand(body: Array(text.utf8), rules: Self.rules())
        else {
            Issue.record("not a removal")
            return
        }
        #expect(address == PusherAddress(appID: "a", pushkey: "k"))
        #expect(!"\(address)".contains("k"))
        for (body, field) in [
            (#"{"kind":null,"app_id":"a"}"#, "pushkey"), (#"{"kind":null,"pushkey":"a"}"#, "app_id"),
        ] {
            let error = #expect(throws: RegistrationError.self) {
                _ = try PusherCommand(body: Array(body.utf8), rules: Self.rules())
            }
            #expect(error?.field == field)
            #expect(error?.kind == .missing)
        }
    }

    @Test(arguments: ["", "[]", "{", "null", #"{"kind":"http","kind":null}"#, "{}x"])
    func `what is no registration is malformed or lacks kind`(text: String) {
        let error = #expect(throws: RegistrationError.self) {
            _ = try PusherCommand(body: Array(text.utf8), rules: Self.rules())
        }
        #expect(error != nil)
    }
}
