import JSON

/// Writes a notification that is not sealed, for pushers without keys where the channel allows it: an item of
/// `/notify/batch`.
///
/// ```
///   {"id":…,"notification":{"event_id":…,"type":…,"room_id":…,"prio":…[,"content":{…}],"devices":[{…}]}}
/// ```
///
/// `event_id` is the notification's id: receivers drop repeats by it, and the event's own id would make one device's
/// message a repeat of another's. `room_id` is the channel, as nothing else groups messages here; gematik's own
/// gateway loses a plain message without one. Source: Push Gateway API 1.2, `PlainNotification`.
package enum PlainItem {
    /// The content of the event as the item's `content`.
    ///
    /// - Parameter content: what would be sealed otherwise.
    /// - Returns: the content if it is a JSON object; an empty one if it is empty; nil if it cannot be sent this way,
    ///   which is a fault of the event.
    package static func content(_ content: [UInt8]) -> [UInt8]? {
        guard !content.isEmpty else { return [] }
        return try? Reader.read(content) { reader throws(ReadError) in
            guard try reader.peek() == .object else { throw reader.unacceptable("not an object") }
            return try reader.readRawBytes()
        }
    }

    /// Appends everything up to the device.
    ///
    /// - Parameters:
    ///   - id: the notification's id.
    ///   - event: the event; its type and priority are sent, an absent priority as high, since the interface wants
    ///     one.
    ///   - channel: the channel of the event.
    ///   - content: what ``content(_:)`` made of the event's content.
    ///   - output: where it is appended.
    package static func appendBeforeDevice(
        id: NotificationID,
        event: TriggerEvent,
        channel: [UInt8],
        content: [UInt8],
        to output: inout [UInt8]
    ) {
        output.append(#"{"id":""#)
        id.uuid.appendText(to: &output)
        output.append(#"","notification":{"event_id":""#)
        id.uuid.appendText(to: &output)
        output.append(#"","type":"#)
        output.appendJSONString(event.type.span)
        output.append(#","room_id":"#)
        output.appendJSONString(channel.span)
        output.append(event.priority == .low ? #","prio":"low""# : #","prio":"high""#)
        if !content.isEmpty {
            output.append(#","content":"#)
            output.append(contentsOf: content)
        }
        output.append(#","devices":["#)
    }

    /// Appends the device and the end; see ``NotificationEncoder/appendDevice(appID:pushkey:registered:data:to:)``.
    package static func appendDevice(
        appID: Span<UInt8>,
        pushkey: Span<UInt8>,
        registered: Timestamp,
        data: Span<UInt8>,
        to output: inout [UInt8]
    ) {
        output.appendDevice(appID: appID, pushkey: pushkey, registered: registered, data: data)
        output.append("]}}")
    }
}
