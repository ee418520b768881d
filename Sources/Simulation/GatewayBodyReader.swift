internal import JSON

/// Reads and checks the body of a request to a gateway.
///
/// A fault of the envelope is one of the whole batch; a fault inside a notification is one of its item, which is told `failed` while the
/// others go on.
struct GatewayBodyReader {
    let interface: GatewayInterface
    let batchLimit: Int
    /// The longest notification, as JSON, in KiB.
    let itemLimitKilobytes: Int

    struct Content {
        var items: [ReadItem]
        /// Single notifications: whether they came in the wrapper of the current interface.
        var isWrapped = true
    }

    func read(_ body: [UInt8]) throws(BatchFault) -> Content {
        if case .single = interface { return try readSingle(body) }
        let items: [ReadItem]
        do throws(ReadError) {
            items = try Reader.read(body) { reader throws(ReadError) in
                try reader.readNotifications(readItem)
            }
        } catch {
            throw .invalidFormat
        }
        if items.isEmpty { throw .invalidFormat }
        if items.count > batchLimit { throw .tooManyItems(limit: batchLimit) }
        let repeated = duplicates(items)
        if !repeated.isEmpty { throw .duplicateIDs(repeated) }
        if items.contains(where: { $0.range.count > itemLimitKilobytes * 1024 }) {
            throw .itemTooLarge(limitKilobytes: itemLimitKilobytes)
        }
        return Content(items: items)
    }

    private func readItem(_ reader: inout Reader) throws(ReadError) -> ReadItem {
        var id: String?
        var item: ReadItem?
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "id":
                id = try reader.readString()
                guard let id, !id.isEmpty, id.unicodeScalars.count <= 64 else {
                    throw reader.unacceptable("1 to 64 characters")
                }
            case "notification":
                guard try reader.peek() == .object else { throw reader.unacceptable("an object") }
                var copy = reader
                item = ReadItem(range: try reader.readRaw())
                do throws(ReadError) {
                    item?.devices =
                        try interface == .encryptedBatch ? copy.readEncrypted() : copy.readPlain()
                } catch {
                    item?.fault = error.description
                }
            default: break
            }
        }
        guard let id else { throw reader.missing("id") }
        guard var item else { throw reader.missing("notification") }
        item.id = id
        return item
    }

    private func readSingle(_ body: [UInt8]) throws(BatchFault) -> Content {
        do throws(ReadError) {
            return try Reader.read(body) { reader throws(ReadError) in
                let whole = reader
                var range: Range<Int>?
                var devices: [ReceivedDevice] = []
                try reader.readObject { name, reader throws(ReadError) in
                    guard name == "notification" else { return }
                    var copy = reader
                    range = try reader.readRaw()
                    devices = try copy.readPlain(needsPriority: false)
                }
                if let range { return Content(items: [ReadItem(range: range, devices: devices)]) }
                var copy = whole
                devices = try copy.readConcept2024()
                var raw = whole
                let item = ReadItem(range: try raw.readRaw(), devices: devices)
                return Content(items: [item], isWrapped: false)
            }
        } catch {
            throw .invalidFormat
        }
    }

    /// Each id that comes more than once, once, in the order in which it came first.
    private func duplicates(_ items: [ReadItem]) -> [String] {
        var counts: [String: Int] = [:]
        for case let id? in items.lazy.map(\.id) { counts[id, default: 0] += 1 }
        guard counts.count < items.count else { return [] }
        var told: Set<String> = []
        return items.compactMap(\.id).filter { counts[$0, default: 0] > 1 && told.insert($0).inserted }
    }
}
