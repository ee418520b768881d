internal import Kafka
internal import Push

/// A notification as the encrypt lane writes it, but for its ciphertext, which is no more than as long and as hard to compress.
struct PrebuiltRecord {
    let key: [UInt8]
    let value: [UInt8]
    let headers: Headers

    /// So many that none comes again within the 64 KiB of a partition that lz4 looks back.
    static let variety = 1024

    /// For the baseline, which never looks at them.
    static func all(for population: Population) -> [PrebuiltRecord] {
        var random = SystemRandomNumberGenerator()
        let endpoint = Array("http://127.0.0.1:40000/push/v1/notifyEncrypted/batch".utf8)
        return (0..<variety).map { number in
            let pusher = RegisteredPusher(
                user: Population.user(number),
                id: UUIDBytes(high: random.next(), low: random.next()),
                month: Month.accepted.lowerBound,
                registered: Timestamp(milliseconds: 1_767_000_000_000)
            )
            let ciphertext = ciphertext(using: &random)
            return PrebuiltRecord(
                number,
                for: pusher,
                ciphertext: ciphertext,
                endpoint: endpoint,
                now: 1_767_000_000_000,
                using: &random
            )
        }
    }

    /// The notification of an event for a pusher, with an id of its own.
    init(
        _ number: Int,
        for pusher: RegisteredPusher,
        ciphertext: [UInt8],
        endpoint: [UInt8],
        now: Int64,
        using random: inout SystemRandomNumberGenerator
    ) {
        let id = UUIDBytes(high: random.next(), low: random.next())
        key = Array(pusher.id.description.utf8)
        value = Self.value(NotificationID(id), pusher, ciphertext)
        var headers = Headers()
        headers.append("user", text: pusher.user)
        headers.append("event", text: Population.eventID(number))
        headers.append("source", text: Population.source)
        headers.append("created", text: "\(now)")
        headers.append("expires", text: "\(now + 43_200_000)")
        headers.append("id", text: id.description)
        headers.append("gateway", endpoint)
        headers.append("format", text: NotificationFormat.gematik12Encrypted.rawValue)
        headers.append("app", text: Population.appID)
        headers.append("channel", text: Population.channel)
        headers.append("month", text: "\(pusher.month)")
        headers.append("registered", text: "\(pusher.registered.milliseconds)")
        self.headers = headers
    }

    private static func value(
        _ id: NotificationID,
        _ pusher: RegisteredPusher,
        _ ciphertext: [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ciphertext.count + 512)
        let encoder = NotificationEncoder(.gematik12)
        encoder.appendBeforeCiphertext(id: id, month: pusher.month, to: &bytes)
        bytes.append(contentsOf: ciphertext)
        let identifier = Population.keyIdentifier(0, 0)
        encoder.appendAfterCiphertext(
            month: pusher.month,
            keyIdentifier: identifier.utf8.span,
            identifier: nil,
            priority: .high,
            to: &bytes
        )
        let (app, pushkey) = (Population.appID, Population.pushkey(0, 0))
        encoder.appendDevice(
            appID: app.utf8.span,
            pushkey: pushkey.utf8.span,
            registered: pusher.registered,
            data: Span(),
            to: &bytes
        )
        return bytes
    }

    /// As long as IV, framed content and tag in Base64.
    static func ciphertext(using random: inout SystemRandomNumberGenerator) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let length = (12 + PlaintextFrame.length + 16 + 2) / 3 * 4
        return (0..<length).map { _ in alphabet[Int(random.next() & 63)] }
    }
}
