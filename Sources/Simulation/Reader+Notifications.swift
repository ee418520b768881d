internal import JSON

/// What the interfaces demand of a notification. Each gives back its devices.
///
/// Source: Push Gateway API 1.2.0, `EncryptedNotification`, `PlainNotification`, `Device`.
extension Reader {
    mutating func readEncrypted() throws(ReadError) -> [ReceivedDevice] {
        var device: ReceivedDevice?
        var found: (ciphertext: Bool, month: Bool, keyIdentifier: Bool) = (false, false, false)
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "ciphertext":
                let text = try reader.readStringBytes()
                guard text.count == 1404, isBase64(text) else {
                    throw reader.unacceptable("1404 characters of Base64")
                }
                found.ciphertext = true
            case "time_message_encrypted":
                guard isMonth(try reader.readString()) else { throw reader.unacceptable("yyyy-MM") }
                found.month = true
            case "key_identifier":
                _ = try reader.readString()
                found.keyIdentifier = true
            case "device": device = try reader.readDevice()
            default: try reader.readCommon(name)
            }
        }
        guard found.ciphertext else { throw missing("ciphertext") }
        guard found.month else { throw missing("time_message_encrypted") }
        guard found.keyIdentifier else { throw missing("key_identifier") }
        guard let device else { throw missing("device") }
        return [device]
    }

    /// Reads the envelope of a batch; `item` is called for each of its items and reads it.
    mutating func readNotifications(
        _ item: (inout Reader) throws(ReadError) -> ReadItem
    ) throws(ReadError) -> [ReadItem] {
        var items: [ReadItem]?
        try readObject { name, reader throws(ReadError) in
            guard name == "notifications" else { return }
            var found: [ReadItem] = []
            try reader.readArray { reader throws(ReadError) in found.append(try item(&reader)) }
            items = found
        }
        guard let items else { throw missing("notifications") }
        return items
    }

    /// Reads a message in plain text; Matrix, from which the interface comes, does not require `prio`.
    mutating func readPlain(needsPriority: Bool = true) throws(ReadError) -> [ReceivedDevice] {
        var devices: [ReceivedDevice]?
        var hasPriority = false
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "devices": devices = try reader.readDevices()
            case "content":
                guard try reader.peek() == .object else { throw reader.unacceptable("an object") }
            case "user_is_target": _ = try reader.readBool()
            case "event_id", "room_id", "type", "sender", "sender_display_name", "room_name", "room_alias":
                _ = try reader.readString()
            default:
                if name == "prio" { hasPriority = true }
                try reader.readCommon(name)
            }
        }
        guard let devices else { throw missing("devices") }
        guard hasPriority || !needsPriority else { throw missing("prio") }
        return devices
    }

    /// The message of the concept of December 2024: unpadded, with an array of devices.
    mutating func readConcept2024() throws(ReadError) -> [ReceivedDevice] {
        var devices: [ReceivedDevice]?
        var found: (ciphertext: Bool, month: Bool) = (false, false)
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "ciphertext":
                guard isBase64(try reader.readStringBytes()) else { throw reader.unacceptable("Base64") }
                found.ciphertext = true
            case "month":
                guard isMonth(try reader.readString()) else { throw reader.unacceptable("yyyy-MM") }
                found.month = true
            case "devices": devices = try reader.readDevices()
            default: try reader.readCommon(name)
            }
        }
        guard found.ciphertext else { throw missing("ciphertext") }
        guard found.month else { throw missing("month") }
        guard let devices else { throw missing("devices") }
        return devices
    }

    private mutating func readCommon(_ name: MemberName) throws(ReadError) {
        switch name {
        case "prio":
            let priority = try readString()
            guard priority == "high" || priority == "low" else { throw unacceptable("high or low") }
        case "identifier": _ = try readString()
        case "counts":
            try readObject { name, reader throws(ReadError) in
                guard name == "unread" || name == "missed_calls" else { return }
                _ = try reader.readInt64()
            }
        default: break
        }
    }

    private mutating func readDevices() throws(ReadError) -> [ReceivedDevice] {
        var devices: [ReceivedDevice] = []
        try readArray { reader throws(ReadError) in devices.append(try reader.readDevice()) }
        guard !devices.isEmpty else { throw unacceptable("at least one device") }
        return devices
    }

    private mutating func readDevice() throws(ReadError) -> ReceivedDevice {
        var pushkey: String?
        var app: String?
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "app_id": app = try reader.readString()
            case "pushkey": pushkey = try reader.readString()
            case "pushkey_ts": _ = try reader.readInt64()
            case "data", "tweaks":
                guard try reader.peek() == .object else { throw reader.unacceptable("an object") }
            default: break
            }
        }
        guard let app, !app.isEmpty else { throw missing("app_id") }
        guard let pushkey, !pushkey.isEmpty else { throw missing("pushkey") }
        return ReceivedDevice(app: app, pushkey: pushkey)
    }
}

/// The alphabet of RFC 4648 §4, padded to whole groups of four.
private func isBase64(_ text: [UInt8]) -> Bool {
    guard !text.isEmpty, text.count.isMultiple(of: 4) else { return false }
    let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
    return text.dropLast(padding).allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

private func isMonth(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 7, bytes[4] == UInt8(ascii: "-"), let month = UInt8(text.suffix(2)) else {
        return false
    }
    let digits = bytes[..<4] + bytes[5...]
    return digits.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } && (1...12).contains(month)
}
