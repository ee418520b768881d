import Device
import JSON
import Kafka
import LocalServices
import Push

/// A notification taken apart the way a gateway and a device would: from the notifications topic, or from what a gateway has recorded.
///
/// Both are a JSON object with `id` and `notification`, so that one reader serves both.
struct SealedItem {
    let id: String
    let pushkey: String
    let month: String
    /// The notification's bytes as they stand in the object.
    let notification: [UInt8]
    private let fields: Fields

    /// - Throws: ``ReadError`` when it is no such object.
    init(_ json: [UInt8]) throws {
        var id = ""
        var fields = Fields()
        var range = 0..<0
        try Reader.read(json) { reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                switch name {
                case "id": id = try reader.readNullableString() ?? ""
                case "notification":
                    var copy = reader
                    range = try reader.readRaw()
                    try fields.read(&copy)
                default: break
                }
            }
        }
        self.id = id
        self.fields = fields
        pushkey = fields.pushkey
        month = String(decoding: fields.month, as: UTF8.self)
        notification = Array(json[range])
    }

    /// A record of the notifications topic, whose header names the same id as its value.
    init(_ record: Record) throws {
        try self.init(record.value ?? [])
        guard record.headers.text("id") == id else {
            throw UnexpectedEnd(description: "\(record.partition)/\(record.offset): two ids")
        }
    }

    /// All items of a gateway's record, in the order in which they came.
    static func items(ofRecord path: String) throws -> [SealedItem] {
        try (Files.read(path) ?? []).split(separator: UInt8(ascii: "\n")).map { try SealedItem(Array($0)) }
    }

    /// What the device gets.
    var message: SealedMessage {
        get throws(OpenError) {
            try SealedMessage(
                month: fields.month,
                keyIdentifier: fields.keyIdentifier,
                ciphertext: fields.ciphertext.span,
                format: .framed
            )
        }
    }

    /// The ciphertext's text as the wire has it.
    var ciphertext: String { String(decoding: fields.ciphertext, as: UTF8.self) }
}

/// What is in the notification itself.
private struct Fields {
    var pushkey = ""
    var keyIdentifier = ""
    var month: [UInt8] = []
    var ciphertext: [UInt8] = []

    mutating func read(_ reader: inout Reader) throws(ReadError) {
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "device": try read(&reader)
            case "time_message_encrypted": month = try reader.readStringBytes()
            case "ciphertext": ciphertext = try reader.readStringBytes()
            case "key_identifier": keyIdentifier = try reader.readString()
            case "pushkey": pushkey = try reader.readString()
            default: break
            }
        }
    }
}

/// The devices of a proof, each with the chain that it began from its own secret.
final class Devices {
    private let devices: [String: TestDevice]
    private var registrations: [String: Registration] = [:]
    private var receiver: Receiver

    init(_ devices: [TestDevice]) throws {
        self.devices = Dictionary(uniqueKeysWithValues: devices.map { ($0.pushkey, $0) })
        receiver = try Receiver()
    }

    /// What the device that is addressed shows; its chain moves forward as a real one's does.
    func open(_ item: SealedItem) throws -> String {
        guard let device = devices[item.pushkey] else { throw OpenError.unknownDevice }
        let registration = try registrations[item.pushkey] ?? register(device)
        registrations[item.pushkey] = registration
        return String(decoding: try receiver.open(item.message, with: registration), as: UTF8.self)
    }

    private func register(_ device: TestDevice) throws -> Registration {
        guard let secret = InitialSecret(bytes: device.secret.span), let month = Month(device.month) else {
            throw OpenError.unknownDevice
        }
        return try receiver.register(secret, month: month, keyIdentifier: "key-\(device.number)")
    }
}

/// Compares what is there with what must be there.
///
/// - Parameters:
///   - items: what the topic holds, or what a gateway got.
///   - expected: what must be there, by id.
///   - repeats: whether an item may be there more than once, if it is always the same; else it is a fault.
///   - opening: what the device shows.
/// - Returns: in words, what is missing, repeated, changed, unexpected or does not open; empty when all is as it must be.
func differences(
    _ items: [SealedItem],
    from expected: [String: ExpectedNotification],
    repeats: Bool = false,
    opening: (SealedItem) throws -> String
) -> [String] {
    var faults: [String] = []
    var seen: [String: [UInt8]] = [:]
    for item in items {
        guard let wanted = expected[item.id] else {
            faults.append("unexpected: \(item.id) for \(item.pushkey)")
            continue
        }
        if let first = seen.updateValue(item.notification, forKey: item.id) {
            if !repeats { faults.append("repeated: \(item.id)") }
            if first != item.notification { faults.append("changed: \(item.id)") }
            continue
        }
        do {
            let shown = ExpectedNotification(pushkey: item.pushkey, content: try opening(item))
            if wanted != shown { faults.append("mixed up: \(item.id)") }
        } catch {
            faults.append("does not open: \(item.id): \(error)")
        }
    }
    for id in expected.keys where seen[id] == nil { faults.append("missing: \(id)") }
    return faults
}
