import JSON

extension Reader {
    /// Reads text without control characters whose length in bytes lies in `range`.
    mutating func readText(_ range: ClosedRange<Int>) throws(ReadError) -> String {
        let text = try readString()
        guard text.utf8.count >= range.lowerBound else { throw unacceptable("is empty") }
        guard text.utf8.count <= range.upperBound else {
            throw unacceptable("is longer than \(range.upperBound) bytes")
        }
        guard TextRules.isClean(text.utf8.span) else { throw unacceptable("holds a control character") }
        return text
    }

    /// Reads an app id: 1 to 64 characters, counted as the database counts them, by Unicode scalars.
    mutating func readAppID() throws(ReadError) -> String {
        let limit = PusherRegistration.appIDLimit
        let text = try readText(1...(4 * limit))
        guard text.unicodeScalars.count <= limit else {
            throw unacceptable("is longer than \(limit) characters")
        }
        return text
    }

    /// Reads `data`: the URL, and everything else as a compact object.
    mutating func readPusherData() throws(ReadError) -> (url: GatewayURL, rest: [UInt8]?) {
        var url: GatewayURL?
        var writer = Writer()
        writer.beginObject()
        var isEmpty = true
        try readObject { name, reader throws(ReadError) in
            if name == "url" {
                url = try reader.readGatewayURL()
            } else {
                isEmpty = false
                writer.name(escaping: name.text)
                try reader.copyValue(to: &writer)
            }
        }
        writer.endObject()
        guard let url else { throw missing("url") }
        let limit = PusherRegistration.dataLimit
        guard writer.bytes.count <= limit else {
            throw unacceptable("is longer than \(limit) bytes without url")
        }
        return (url, isEmpty ? nil : writer.bytes)
    }

    private mutating func readGatewayURL() throws(ReadError) -> GatewayURL {
        let text = try readString()
        do {
            return try GatewayURL(text)
        } catch {
            throw unacceptable(error.description)
        }
    }

    /// Reads `encryption`.
    mutating func readKeys(_ rules: RegistrationRules) throws(ReadError) -> RegisteredKeys {
        if rules.encryption == .forbidden {
            try skipValue()
            throw unacceptable("is not offered by this service")
        }
        var hasMethod = false
        var month: Month?
        var secret: InitialSecret?
        var identifier: String?
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "method":
                guard try reader.readString(equals: "aes-hmac-sha256") else {
                    throw reader.unacceptable("is not \(RegisteredKeys.method)")
                }
                hasMethod = true
            case "time_iss_created": month = try reader.readSecretMonth(rules)
            case "iss": secret = try reader.readInitialSecret()
            case "key_identifier": identifier = try reader.readText(1...RegisteredKeys.identifierLimit)
            default: break
            }
        }
        guard hasMethod else { throw missing("method") }
        guard let month else { throw missing("time_iss_created") }
        guard let secret else { throw missing("iss") }
        return RegisteredKeys(initialSecret: secret, month: month, identifier: identifier)
    }

    private mutating func readSecretMonth(_ rules: RegistrationRules) throws(ReadError) -> Month {
        guard let month = Month(try readString()) else { throw unacceptable("is not a month yyyy-MM") }
        let accepted = rules.acceptedMonths
        guard accepted.contains(month) else {
            throw unacceptable("is not between \(accepted.lowerBound) and \(accepted.upperBound)")
        }
        return month
    }

    /// Reads the initial secret and wipes the copy that reading makes.
    private mutating func readInitialSecret() throws(ReadError) -> InitialSecret {
        var hex = try readStringBytes()
        let secret = InitialSecret(hex: hex.span)
        var copy = hex.mutableSpan
        overwrite(&copy)
        guard let secret else { throw unacceptable("is not 64 hexadecimal digits") }
        return secret
    }

    /// Copies the value that comes next, without white space and superfluous escapes.
    private mutating func copyValue(to writer: inout Writer) throws(ReadError) {
        switch try peek() {
        case .object:
            writer.beginObject()
            try readObject { name, reader throws(ReadError) in
                writer.name(escaping: name.text)
                try reader.copyValue(to: &writer)
            }
            writer.endObject()
        case .array:
            writer.beginArray()
            try readArray { reader throws(ReadError) in try reader.copyValue(to: &writer) }
            writer.endArray()
        case .string: writer.string(try readString())
        case .number, .boolean, .null: writer.raw(try readRawBytes())
        }
    }
}
