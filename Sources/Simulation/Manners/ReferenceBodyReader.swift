internal import JSON

/// Reads a body as gematik's own gateway does: lenient with texts, strict with what must be there, and one fault fails all.
///
/// Numbers are taken where texts are asked and the other way round, names may come twice, and unknown members are skipped.
struct ReferenceBodyReader {
    enum Fault: Error, Equatable {
        /// 400 without a name.
        case schema
        /// 400 with the documented body.
        case duplicateIDs([String])
        /// A key that its database cannot hold: 500.
        case database
    }

    let interface: GatewayInterface

    private static let batchLimit = 100
    private static let limits = Limits(
        documentBytes: 32 << 20,
        stringBytes: 32 << 20,
        allowsDuplicateNames: true
    )

    func read(_ body: [UInt8]) throws(Fault) -> GatewayBodyReader.Content {
        let hasMark = body.starts(with: [0xEF, 0xBB, 0xBF])
        let items: [ReadItem]
        do throws(ReadError) {
            items = try Reader.read(body, in: (hasMark ? 3 : 0)..<body.count, limits: Self.limits) {
                reader throws(ReadError) in
                if case .single = interface { return [try readSingle(&reader)] }
                return try reader.readNotifications(readItem)
            }
        } catch {
            throw .schema
        }
        let distinct = collapsed(items, body)
        if case .single = interface {} else { try check(distinct) }
        if distinct.contains(where: { $0.pushkeys.contains { $0.utf8.contains(0) } }) { throw .database }
        return GatewayBodyReader.Content(items: distinct)
    }

    private func check(_ items: [ReadItem]) throws(Fault) {
        guard (1...Self.batchLimit).contains(items.count) else { throw .schema }
        var counts: [String: Int] = [:]
        for item in items { counts[item.id ?? "", default: 0] += 1 }
        let repeated = counts.filter { $0.value > 1 }.keys.sorted()
        if !repeated.isEmpty { throw .duplicateIDs(repeated) }
    }

    /// Items that are the same in every byte are one to it: it keeps them in a set.
    private func collapsed(_ items: [ReadItem], _ body: [UInt8]) -> [ReadItem] {
        var seen: Set<[UInt8]> = []
        return items.filter { item in
            seen.insert(Array((item.id ?? "").utf8) + [0] + body[item.range]).inserted
        }
    }

    private func readItem(_ reader: inout Reader) throws(ReadError) -> ReadItem {
        var id: String?
        var item: ReadItem?
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "id": id = try reader.readLoosely()
            case "notification":
                var copy = reader
                let devices =
                    try interface == .encryptedBatch ? copy.readLooseEncrypted() : copy.readLoosePlain()
                item = ReadItem(range: try reader.readRaw(), devices: devices)
            default: break
            }
        }
        guard let id, id.utf16.count <= 64 else { throw reader.missing("id") }
        guard var item else { throw reader.missing("notification") }
        item.id = id
        return item
    }

    private func readSingle(_ reader: inout Reader) throws(ReadError) -> ReadItem {
        var item: ReadItem?
        try reader.readObject { name, reader throws(ReadError) in
            guard name == "notification" else { return }
            var copy = reader
            let devices = try copy.readLoosePlain()
            item = ReadItem(range: try reader.readRaw(), devices: devices)
        }
        guard let item else { throw reader.missing("notification") }
        return item
    }
}

extension Reader {
    /// A text, or a number or truth value taken for one; nil for null.
    fileprivate mutating func readLoosely() throws(ReadError) -> String? {
        switch try peek() {
        case .string: return try readString()
        case .number: return try readNumberText()
        case .boolean: return try readBool() ? "true" : "false"
        case .null:
            try readNull()
            return nil
        case .object, .array: throw unacceptable("a text")
        }
    }

    fileprivate mutating func readLooseEncrypted() throws(ReadError) -> [ReceivedDevice] {
        var device: ReceivedDevice?
        var found: (ciphertext: Bool, month: Bool, key: Bool) = (false, false, false)
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "ciphertext": found.ciphertext = try reader.readLoosely()?.utf16.count == 1404
            case "time_message_encrypted": found.month = try reader.readLoosely() != nil
            case "key_identifier": found.key = try reader.readLoosely() != nil
            case "device": device = try reader.readLooseDevice()
            case "prio" where try reader.peek() == .null: try reader.readNull()
            default: try reader.readLooseCommon(name)
            }
        }
        guard let device, found == (true, true, true) else { throw unacceptable("what its schema asks") }
        return [device]
    }

    fileprivate mutating func readLoosePlain() throws(ReadError) -> [ReceivedDevice] {
        var devices: [ReceivedDevice]?
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "devices":
                var found: [ReceivedDevice] = []
                try reader.readArray { reader throws(ReadError) in
                    let device = try reader.readLooseDevice()
                    if !found.contains(device) { found.append(device) }
                }
                devices = found
            default: try reader.readLooseCommon(name)
            }
        }
        guard let devices else { throw missing("devices") }
        return devices
    }

    private mutating func readLooseCommon(_ name: MemberName) throws(ReadError) {
        switch name {
        case "prio":
            guard ["high", "low"].contains(try readString()) else { throw unacceptable("high or low") }
        case "counts" where try peek() != .null:
            try readObject { name, reader throws(ReadError) in
                if name == "unread" || name == "missed_calls" {
                    try reader.readLooseNumber(in: -1 << 31...1 << 31 - 1)
                }
            }
        default: break
        }
    }

    private mutating func readLooseDevice() throws(ReadError) -> ReceivedDevice {
        var app: String?
        var pushkey: String?
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "app_id": app = try reader.readLoosely()
            case "pushkey": pushkey = try reader.readLoosely()
            case "pushkey_ts": try reader.readLooseNumber(in: Int64.min...Int64.max)
            case "data" where try reader.peek() != .null:
                guard try reader.peek() == .object else { throw reader.unacceptable("an object") }
            default: break
            }
        }
        guard let app else { throw missing("app_id") }
        guard let pushkey else { throw missing("pushkey") }
        return ReceivedDevice(app: app, pushkey: pushkey)
    }

    /// A number, a fraction cut off, or a text that holds one; null is taken for none.
    private mutating func readLooseNumber(in range: ClosedRange<Int64>) throws(ReadError) {
        guard let text = try readLoosely(), !text.isEmpty else { return }
        let value = Double(text).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
        guard let value, range.contains(value) else {
            throw unacceptable("a number in range")
        }
    }
}
