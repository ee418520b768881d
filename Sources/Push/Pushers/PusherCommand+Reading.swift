import JSON

extension PusherCommand {
    /// What a request's body may cost: a registration has about 2 KB.
    package static let documentLimit = 16 << 10

    /// Reads the body of `POST /pushers/set`.
    ///
    /// - Parameters:
    ///   - body: one JSON object; unknown members are ignored.
    ///   - rules: what the service asks for.
    /// - Throws: ``RegistrationError`` for the first field that does not do.
    package init(body: [UInt8], rules: RegistrationRules) throws(RegistrationError) {
        do {
            self = try Reader.read(body, limits: Limits(documentBytes: Self.documentLimit, depth: 16)) {
                reader throws(ReadError) in try PusherCommand(&reader, rules)
            }
        } catch {
            throw RegistrationError(error)
        }
    }

    /// Reads the object that comes next.
    init(_ reader: inout Reader, _ rules: RegistrationRules) throws(ReadError) {
        // `kind` decides what else is required and may come last, so it is read ahead.
        var ahead = reader
        if try Self.isRemoval(&ahead) {
            self = .remove(try Self.readRemoval(&reader))
        } else {
            var draft = Draft(rules: rules)
            try reader.readObject { name, reader throws(ReadError) in try draft.read(name, &reader) }
            self = .set(try draft.finish(reader))
        }
    }

    private static func isRemoval(_ reader: inout Reader) throws(ReadError) -> Bool {
        var isRemoval: Bool?
        try reader.readObject { name, reader throws(ReadError) in
            guard name == "kind" else { return }
            if try reader.peek() == .null {
                isRemoval = true
                return
            }
            guard try reader.readString(equals: "http") else {
                throw reader.unacceptable("is neither http nor null")
            }
            isRemoval = false
        }
        guard let isRemoval else { throw reader.missing("kind") }
        return isRemoval
    }

    private static func readRemoval(_ reader: inout Reader) throws(ReadError) -> PusherAddress {
        var appID: String?
        var pushkey: String?
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "app_id": appID = try reader.readAppID()
            case "pushkey": pushkey = try reader.readText(1...PusherRegistration.pushkeyLimit)
            default: break
            }
        }
        guard let appID else { throw reader.missing("app_id") }
        guard let pushkey else { throw reader.missing("pushkey") }
        return PusherAddress(appID: appID, pushkey: pushkey)
    }
}

/// A registration as far as it is read.
private struct Draft {
    let rules: RegistrationRules
    private var appID: String?
    private var pushkey: String?
    private var appDisplayName: String?
    private var deviceDisplayName: String?
    private var language: String?
    private var profileTag: String?
    private var data: (url: GatewayURL, rest: [UInt8]?)?
    private var keys: RegisteredKeys?
    private var append = false

    init(rules: RegistrationRules) {
        self.rules = rules
    }

    mutating func read(_ name: MemberName, _ reader: inout Reader) throws(ReadError) {
        let names = 0...PusherRegistration.nameLimit
        switch name {
        case "app_id": appID = try reader.readAppID()
        case "pushkey": pushkey = try reader.readText(1...PusherRegistration.pushkeyLimit)
        case "app_display_name": appDisplayName = try reader.readText(names)
        case "device_display_name": deviceDisplayName = try reader.readText(names)
        case "lang": language = try reader.readText(1...PusherRegistration.languageLimit)
        case "profile_tag":
            profileTag = try reader.readNullable { reader throws(ReadError) in try reader.readText(names) }
        case "data": data = try reader.readPusherData()
        case "encryption":
            let rules = rules
            keys = try reader.readNullable { reader throws(ReadError) in try reader.readKeys(rules) }
        case "append": append = try reader.readNullableBool() ?? false
        default: break
        }
    }

    func finish(_ reader: Reader) throws(ReadError) -> PusherRegistration {
        guard let appID else { throw reader.missing("app_id") }
        guard let pushkey else { throw reader.missing("pushkey") }
        guard let appDisplayName else { throw reader.missing("app_display_name") }
        guard let deviceDisplayName else { throw reader.missing("device_display_name") }
        guard let language else { throw reader.missing("lang") }
        guard let data else { throw reader.missing("data") }
        if keys == nil, rules.encryption == .required { throw reader.missing("encryption") }
        return PusherRegistration(
            address: PusherAddress(appID: appID, pushkey: pushkey),
            appDisplayName: appDisplayName,
            deviceDisplayName: deviceDisplayName,
            language: language,
            profileTag: profileTag,
            url: data.url,
            data: data.rest,
            keys: keys,
            append: append
        )
    }
}
