import Device
import JSON
import Kafka
import Push

/// A record of the notifications topic, taken apart the way a gateway and a device would.
struct Notification {
    let id: String
    let key: String
    let headers: [String: String]
    let value: [UInt8]
    private(set) var month = ""
    private(set) var ciphertext: [UInt8] = []
    private(set) var pushkey = ""
    private(set) var members: Set<String> = []

    init(_ record: Record) throws {
        var headers: [String: String] = [:]
        for header in record.headers { headers[header.name] = header.text }
        self.headers = headers
        id = headers["id"] ?? ""
        key = String(decoding: record.key ?? [], as: UTF8.self)
        value = record.value ?? []
        var found = Found()
        try Reader.read(value) { reader throws(ReadError) in try found.read(&reader) }
        month = found.month
        ciphertext = found.ciphertext
        pushkey = found.pushkey
        members = found.members
    }

    /// What the device shows, given the initial secret that it made.
    func open(_ iss: [UInt8], from month: Month = Month("2026-10")!) throws -> String {
        let content = try Receiver.openOnce(
            secret: InitialSecret(bytes: iss.span)!,
            initialMonth: month,
            month: Month(self.month)!,
            ciphertext: ciphertext
        )
        return String(decoding: content, as: UTF8.self)
    }

    private struct Found {
        var month = ""
        var ciphertext: [UInt8] = []
        var pushkey = ""
        var members: Set<String> = []

        mutating func read(_ reader: inout Reader) throws(ReadError) {
            try reader.readObject { name, reader throws(ReadError) in
                members.insert(name.text)
                switch name {
                case "notification", "device": try read(&reader)
                case "devices": try reader.readArray { reader throws(ReadError) in try read(&reader) }
                case "month", "time_message_encrypted": month = try reader.readString()
                case "ciphertext": ciphertext = try reader.readStringBytes()
                case "pushkey": pushkey = try reader.readString()
                default: try reader.skipValue()
                }
            }
        }
    }
}
