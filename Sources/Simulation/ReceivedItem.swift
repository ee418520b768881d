package import JSON
package import Push

/// One notification as a gateway got it.
package struct ReceivedItem: Sendable {
    package var receivedAt: Timestamp
    package var path: String
    /// Counts the requests to this gateway, from 1; items of one request share it.
    package var batch: Int
    /// The item's id; nil where the interface has none (single notifications).
    package var id: String?
    /// The bytes of the JSON that was sent as `notification`; the whole body where there is no such member.
    package var notification: [UInt8]
    /// The keys of its devices, in order.
    package var pushkeys: [String]
}

extension ReceivedItem {
    /// Writes the item's line of a gateway's record, which `posthorn device open` reads.
    ///
    /// ```
    /// {"received_at":"2026-11-30T03:55:12.345Z","path":"…","batch":7,"id":"…","notification":{…}}
    /// ```
    /// `notification` is spliced in as it was received, except that line breaks between its tokens become blanks.
    package func write(to writer: inout Writer) {
        writer.object { writer in
            writer.member("received_at", receivedAt.rfc3339)
            writer.member("path", path)
            writer.member("batch", batch)
            writer.name("id")
            if let id { writer.string(id) } else { writer.null() }
            writer.member("notification", raw: Self.onOneLine(notification))
        }
        writer.endLine()
    }

    /// JSON has line breaks only between tokens; inside a string they are escaped.
    private static func onOneLine(_ json: [UInt8]) -> [UInt8] {
        json.contains { $0 == 0x0a || $0 == 0x0d } ? json.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 } : json
    }
}
