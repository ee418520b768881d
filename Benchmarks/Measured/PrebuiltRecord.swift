internal import Kafka
internal import Push

/// A stand-in for a notification: as long, with the same headers, and no easier to compress.
struct PrebuiltRecord {
    let key: [UInt8]
    let value: [UInt8]
    let headers: Headers

    /// So many that none comes again within the 64 KiB that lz4 looks back.
    private static let count = 256

    static func all(for population: Population) -> [PrebuiltRecord] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { PrebuiltRecord($0, using: &random) }
    }

    private init(_ number: Int, using random: inout SystemRandomNumberGenerator) {
        let pusher = UUIDBytes(high: random.next(), low: random.next())
        let id = UUIDBytes(high: random.next(), low: random.next())
        key = Array(pusher.description.utf8)
        value = Self.base64(Self.valueLength(id), using: &random)
        var headers = Headers()
        headers.append("id", text: id.description)
        headers.append("user", text: Population.user(number))
        headers.append("gateway", text: "http://127.0.0.1:40000/push/v1/notifyEncrypted/batch")
        headers.append("format", text: NotificationFormat.gematik12Encrypted.rawValue)
        headers.append("app", text: Population.appID)
        headers.append("channel", text: Population.channel)
        headers.append("event", text: Population.eventID(number))
        headers.append("source", text: Population.source)
        headers.append("month", text: "2026-01")
        let now = 1_767_000_000_000 + number
        headers.append("registered", text: "\(now)")
        headers.append("created", text: "\(now)")
        headers.append("expires", text: "\(now + 43_200_000)")
        self.headers = headers
    }

    /// What the encrypt lane's encoder makes of the population's pushers.
    private static func valueLength(_ id: UUIDBytes) -> Int {
        var bytes: [UInt8] = []
        let encoder = NotificationEncoder(.gematik12)
        let month = Month.accepted.lowerBound
        encoder.appendBeforeCiphertext(id: NotificationID(id), month: month, to: &bytes)
        let identifier = Population.keyIdentifier(0, 0)
        encoder.appendAfterCiphertext(
            month: month,
            keyIdentifier: identifier.utf8.span,
            identifier: nil,
            priority: .high,
            to: &bytes
        )
        let (app, pushkey) = (Population.appID, Population.pushkey(0, 0))
        encoder.appendDevice(
            appID: app.utf8.span,
            pushkey: pushkey.utf8.span,
            registered: Timestamp(milliseconds: 1_767_000_000_000),
            data: Span(),
            to: &bytes
        )
        // IV, framed content and tag in Base64.
        return bytes.count + (12 + PlaintextFrame.length + 16 + 2) / 3 * 4
    }

    private static func base64(_ length: Int, using random: inout SystemRandomNumberGenerator) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return (0..<length).map { _ in alphabet[Int(random.next(upperBound: UInt64(64)))] }
    }
}
