import Push
import Sealing

/// A device and its registration; all of it follows from its number.
struct TestDevice {
    let number: Int
    var user: String
    var app = "com.example.app"
    var origin = "https://gateway.example"
    /// Where on the gateway, by its dialect.
    var path = "/push/v1/"
    var month = "2026-10"
    var isSubscribed = true

    init(_ number: Int, user: String? = nil) {
        self.number = number
        self.user = user ?? "user-\(number)"
    }

    var pushkey: String { "device-\(number)" }

    /// The initial secret; another one for each number below 2^24.
    var secret: [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 3)) &+ $0 / 3 * 37) }
    }

    /// The initial secret as a registration has it.
    var hex: String {
        secret.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }

    var importLine: String {
        let status = isSubscribed ? "enabled" : "disabled"
        return
            #"{"user":"\#(user)","pusher":{"kind":"http","app_id":"\#(app)","pushkey":"\#(pushkey)","#
            + #""app_display_name":"App","device_display_name":"Phone","lang":"de","#
            + #""data":{"url":"\#(origin)\#(path)"},"#
            + #""encryption":{"method":"aes-hmac-sha256","time_iss_created":"\#(month)","iss":"\#(hex)","#
            + #""key_identifier":"key-\#(number)"}},"channels":{"news":"\#(status)"}}"#
    }

    /// Takes the registration back.
    var removalLine: String {
        #"{"user":"\#(user)","pusher":{"kind":null,"app_id":"\#(app)","pushkey":"\#(pushkey)"}}"#
    }
}

/// An event of the service; all of it follows from its id and its user.
struct TestEvent {
    static let source = "/proofs"

    let id: String
    let user: String
    /// When it is of no use any more; nil: by the service's default.
    var expires: Timestamp?

    /// What the device is to show.
    var content: String { #"{"event":"\#(id)"}"# }

    var line: String {
        let expiry = expires.map { #""expirytime":"\#($0.rfc3339)","# } ?? ""
        return
            #"{"specversion":"1.0","id":"\#(id)","source":"\#(Self.source)","type":"example.news","subject":"\#(user)","#
            + #"\#(expiry)"data":\#(content)}"#
    }
}

/// One notification that must come: for which device, saying what.
struct ExpectedNotification: Hashable {
    let pushkey: String
    let content: String
}

/// The notifications that must come of `events` for `devices`, by id.
///
/// Worked out from the rules alone: each event for each subscribed device of its user. The id is made here as the interface lays it down, from
/// source, event id and pusher id with their lengths before them, without the program's code.
///
/// - Parameters:
///   - events: what is published.
///   - devices: what is registered.
///   - pushers: the ids that the database gave, by pushkey.
/// - Returns: who gets what, by notification id.
/// - Throws: when the digest cannot be made.
func expectation(
    _ events: [TestEvent],
    for devices: [TestDevice],
    pushers: [String: PusherID]
) throws -> [String: ExpectedNotification] {
    let subscribed = Dictionary(grouping: devices.filter(\.isSubscribed), by: \.user)
    var digest = try Digest()
    var expected: [String: ExpectedNotification] = [:]
    for event in events {
        for device in subscribed[event.user] ?? [] {
            guard let pusher = pushers[device.pushkey] else { continue }
            var id: [UInt8] = []
            pusher.uuid.appendBytes(to: &id)
            var input: [UInt8] = []
            for field in [Array(TestEvent.source.utf8), Array(event.id.utf8), id] {
                input += [0, 0, UInt8(field.count >> 8), UInt8(field.count & 0xff)] + field
            }
            let hash = try digest.sha256(input.span)
            expected[identifier(hash)] = ExpectedNotification(
                pushkey: device.pushkey,
                content: event.content
            )
        }
    }
    return expected
}

/// The first half of a digest as a UUID of version 8.
private func identifier(_ hash: Digest.Hash) -> String {
    var text = ""
    for index in 0..<16 {
        var byte = hash[index]
        if index == 6 { byte = byte & 0x0f | 0x80 }
        if index == 8 { byte = byte & 0x3f | 0x80 }
        if [4, 6, 8, 10].contains(index) { text += "-" }
        text += byte < 16 ? "0" + String(byte, radix: 16) : String(byte, radix: 16)
    }
    return text
}
