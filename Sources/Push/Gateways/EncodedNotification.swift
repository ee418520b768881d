import JSON

/// Looks into a notification's final bytes, for the rare moments when that is needed: a gateway rejects a key, or a
/// person wants to see a dead letter.
package enum EncodedNotification {
    /// The pushkey of the first device.
    ///
    /// - Parameters:
    ///   - value: a record's value on the notifications topic.
    ///   - format: the record's format.
    /// - Returns: nil if the value is not of that format.
    package static func pushkey(in value: [UInt8], format: NotificationFormat) -> [UInt8]? {
        try? Reader.read(value) { reader throws(ReadError) in
            switch format {
            case .gematik12Encrypted, .gematik12Plain:
                var key: [UInt8]?
                try reader.readObject { name, reader throws(ReadError) in
                    if name == "notification" { key = try devicesKey(&reader) }
                }
                return key
            case .concept2024: return try devicesKey(&reader)
            }
        }
    }

    private static func devicesKey(_ reader: inout Reader) throws(ReadError) -> [UInt8]? {
        var key: [UInt8]?
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "device": key = try deviceKey(&reader)
            case "devices":
                try reader.readArray { reader throws(ReadError) in
                    let next = try deviceKey(&reader)
                    key = key ?? next
                }
            default: break
            }
        }
        return key
    }

    private static func deviceKey(_ reader: inout Reader) throws(ReadError) -> [UInt8]? {
        var key: [UInt8]?
        try reader.readObject { name, reader throws(ReadError) in
            if name == "pushkey" { key = try reader.readStringBytes() }
        }
        return key
    }
}
