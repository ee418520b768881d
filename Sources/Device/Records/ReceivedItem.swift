import JSON
import Push

/// One item of a gateway's record, for one device.
///
/// The line is `{"received_at":…,"path":…,"batch":…,"id":…,"notification":{…}}`; what is in `notification` tells its format:
///
/// | | gematik-1.2 sealed | gematik-1.2 plain | concept-2024 |
/// |---|---|---|---|
/// | `ciphertext` | yes | | yes |
/// | month | `time_message_encrypted` | | `month` |
/// | chain | `key_identifier` | | |
/// | device | `device` | `devices` | `devices` |
struct ReceivedItem {
    enum Body {
        case sealed(SealedMessage)
        /// Not sealed: the item's `content` as it stands.
        case plain([UInt8])
        case faulty(OpenError)
    }

    var id: String?
    var address: PusherAddress?
    var body: Body

    /// The month for putting items in order; 0 where there is none or it does not read, since that fails wherever it stands.
    var monthOrder: Int32 {
        switch body {
        case .sealed(let message): Month(message.month.span)?.ordinal ?? 0
        case .plain, .faulty: 0
        }
    }

    /// The items of a line: one for each device that it names, and one even if it cannot be understood.
    static func items(_ file: [UInt8], in range: Range<Int>) -> [ReceivedItem] {
        var id: String?
        do throws(ReadError) {
            let notification = try outside(file, range, &id)
            let fields = try Reader.read(file, in: notification) { reader throws(ReadError) in
                try Fields(&reader)
            }
            let body = fields.body
            guard !fields.addresses.isEmpty else {
                throw ReadError(.missing, offset: notification.lowerBound, path: "notification.device")
            }
            return fields.addresses.map { ReceivedItem(id: id, address: $0, body: body) }
        } catch {
            return [ReceivedItem(id: id, address: nil, body: .faulty(.malformedLine(error)))]
        }
    }

    /// Reads the line around the notification, so that the id is known even where the rest does not read.
    private static func outside(
        _ file: [UInt8],
        _ range: Range<Int>,
        _ id: inout String?
    ) throws(ReadError) -> Range<Int> {
        var found: String?
        defer { id = found }
        return try Reader.read(file, in: range) { reader throws(ReadError) in
            var notification: Range<Int>?
            try reader.readObject { name, reader throws(ReadError) in
                switch name {
                case "id": found = try reader.readNullableString()
                case "notification": notification = try reader.readRaw()
                default: break
                }
            }
            guard let notification else { throw reader.missing("notification") }
            return notification
        }
    }
}

/// The members of a notification that a device looks at.
private struct Fields {
    var addresses: [PusherAddress] = []
    private var ciphertext: [UInt8]?
    private var month: [UInt8]?
    private var keyIdentifier: String?
    private var content: [UInt8] = []
    private var isConcept = false

    init(_ reader: inout Reader) throws(ReadError) {
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "ciphertext": ciphertext = try reader.readStringBytes()
            case "time_message_encrypted": month = try reader.readStringBytes()
            case "month":
                month = try reader.readStringBytes()
                isConcept = true
            case "key_identifier": keyIdentifier = try reader.readString()
            case "content": content = try reader.readRawBytes()
            case "device": addresses.append(try Self.address(&reader))
            case "devices":
                try reader.readArray { reader throws(ReadError) in addresses.append(try Self.address(&reader))
                }
            default: break
            }
        }
    }

    var body: ReceivedItem.Body {
        guard let ciphertext else { return .plain(content) }
        do throws(OpenError) {
            let message = try SealedMessage(
                month: month ?? [],
                keyIdentifier: keyIdentifier,
                ciphertext: ciphertext.span,
                format: isConcept ? .unframed : .framed
            )
            return .sealed(message)
        } catch {
            return .faulty(error)
        }
    }

    private static func address(_ reader: inout Reader) throws(ReadError) -> PusherAddress {
        var appID: String?
        var pushkey: String?
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "app_id": appID = try reader.readString()
            case "pushkey": pushkey = try reader.readString()
            default: break
            }
        }
        guard let appID else { throw reader.missing("app_id") }
        guard let pushkey else { throw reader.missing("pushkey") }
        return PusherAddress(appID: appID, pushkey: pushkey)
    }
}
