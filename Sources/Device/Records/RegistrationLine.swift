import JSON
import Push

/// What a device needs of a line of the import file: whose it is, what it is called, and its first secret.
///
/// Reads less strictly than the import, on purpose: the device knows what it registered, whatever the service thought of it.
struct RegistrationLine {
    struct Keys {
        let initialSecret: InitialSecret
        let month: Month
        let identifier: String?
    }

    var user = ""
    var address = PusherAddress(appID: "", pushkey: "")
    /// nil for a pusher whose messages are not sealed, and for a removal.
    var keys: Keys?

    init(_ file: [UInt8], in range: Range<Int>) throws(ReadError) {
        self = try Reader.read(file, in: range) { reader throws(ReadError) in try RegistrationLine(&reader) }
    }

    private init(_ reader: inout Reader) throws(ReadError) {
        var user: String?
        var hasPusher = false
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "user": user = try reader.readString()
            case "pusher":
                hasPusher = true
                try readPusher(&reader)
            default: break
            }
        }
        guard let user else { throw reader.missing("user") }
        guard hasPusher else { throw reader.missing("pusher") }
        self.user = user
    }

    private mutating func readPusher(_ reader: inout Reader) throws(ReadError) {
        var appID: String?
        var pushkey: String?
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "app_id": appID = try reader.readString()
            case "pushkey": pushkey = try reader.readString()
            case "encryption":
                if try reader.peek() == .null {
                    try reader.readNull()
                } else {
                    keys = try Keys(&reader)
                }
            default: break
            }
        }
        guard let appID else { throw reader.missing("app_id") }
        guard let pushkey else { throw reader.missing("pushkey") }
        address = PusherAddress(appID: appID, pushkey: pushkey)
    }
}

extension RegistrationLine.Keys {
    fileprivate init(_ reader: inout Reader) throws(ReadError) {
        var secret: InitialSecret?
        var month: Month?
        var identifier: String?
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "iss":
                let digits = try reader.readStringBytes(limit: 64)
                secret = InitialSecret(hex: digits.span)
                if secret == nil { throw reader.unacceptable("is not 64 hexadecimal digits") }
            case "time_iss_created":
                month = Month(try reader.readString(limit: 7))
                if month == nil { throw reader.unacceptable("is not yyyy-MM") }
            case "key_identifier": identifier = try reader.readNullableString()
            default: break
            }
        }
        guard let secret else { throw reader.missing("iss") }
        guard let month else { throw reader.missing("time_iss_created") }
        self.init(initialSecret: secret, month: month, identifier: identifier)
    }
}
