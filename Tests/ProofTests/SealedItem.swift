import Device
import JSON
import Kafka
import Push

/// A record of the notifications topic, taken apart the way a gateway and a device would.
struct SealedRecord {
    let id: String
    let key: String
    let event: String
    private let item: Item

    init(_ record: Record) throws {
        id = record.headers.text("id") ?? ""
        event = record.headers.text("event") ?? ""
        key = String(decoding: record.key ?? [], as: UTF8.self)
        var item = Item()
        try Reader.read(record.value ?? []) { reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                if name == "notification" { try item.read(&reader) }
            }
        }
        self.item = item
    }

    var pushkey: String { item.pushkey }
    var month: Month? { Month(item.month.span) }

    /// What the device gets.
    var message: SealedMessage {
        get throws(OpenError) {
            try SealedMessage(
                month: item.month,
                keyIdentifier: item.keyIdentifier,
                ciphertext: item.ciphertext.span,
                format: .framed
            )
        }
    }
}

/// What is in the notification itself.
private struct Item {
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
    func open(_ record: SealedRecord) throws -> String {
        guard let device = devices[record.pushkey] else { throw OpenError.unknownDevice }
        let registration = try registrations[record.pushkey] ?? register(device)
        registrations[record.pushkey] = registration
        return String(decoding: try receiver.open(record.message, with: registration), as: UTF8.self)
    }

    /// What the device shows that still has its initial secret, in whatever order messages come.
    func openFromSecret(_ record: SealedRecord) throws -> String {
        guard let device = devices[record.pushkey] else { throw OpenError.unknownDevice }
        return String(decoding: try receiver.open(record.message, with: register(device)), as: UTF8.self)
    }

    private func register(_ device: TestDevice) throws -> Registration {
        try receiver.register(
            InitialSecret(bytes: device.secret.span)!,
            month: Month(device.month)!,
            keyIdentifier: "key-\(device.number)"
        )
    }
}

/// Compares what is on the notifications topic with what must be there.
///
/// - Returns: in words, what is missing, repeated, unexpected or does not open; empty when every notification is there once.
func differences(
    _ records: [Record],
    from expected: [String: ExpectedNotification],
    opening: (SealedRecord) throws -> String
) -> [String] {
    var faults: [String] = []
    var seen: Set<String> = []
    for record in records {
        do {
            let sealed = try SealedRecord(record)
            guard let wanted = expected[sealed.id] else {
                faults.append("unexpected: \(sealed.id) for \(sealed.pushkey)")
                continue
            }
            if !seen.insert(sealed.id).inserted { faults.append("repeated: \(sealed.id)") }
            let content = try opening(sealed)
            if wanted != ExpectedNotification(pushkey: sealed.pushkey, content: content) {
                faults.append("mixed up: \(sealed.id)")
            }
        } catch {
            faults.append("does not open: \(record.partition)/\(record.offset): \(error)")
        }
    }
    for id in expected.keys where !seen.contains(id) { faults.append("missing: \(id)") }
    return faults
}
