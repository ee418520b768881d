internal import Kafka
internal import Postgres
internal import Push

/// The record of one notification while it is written; its buffers serve one after another.
///
/// | header | |
/// |---|---|
/// | `id` | notification id |
/// | `user` | user id: the dispatch stage looks the pusher up by it |
/// | `gateway` | the URL to send to |
/// | `format` | ``NotificationFormat`` |
/// | `app`, `channel` | of the pusher, of the event |
/// | `event`, `source` | the event's CloudEvents id and source |
/// | `month` | of the key, `yyyy-MM`; absent if plain |
/// | `registered`, `created`, `expires` | Unix milliseconds |
/// | `traceparent` | if the event had one |
struct NotificationRecord {
    /// The pusher's id as text.
    private(set) var key: [UInt8] = []
    var value: [UInt8] = []
    private(set) var headers = Headers()
    private var scratch: [UInt8] = []
    /// Where the headers end that all notifications of an event have.
    private var eventHeaders: Headers.Mark
    /// The event that they are of, by its index in the batch.
    private var event = -1

    private typealias Column = SubscriptionLookup.Column

    init() {
        eventHeaders = headers.mark
    }

    mutating func beginBatch() {
        event = -1
    }

    mutating func begin(_ pusher: PusherID) {
        key.removeAll(keepingCapacity: true)
        pusher.uuid.appendText(to: &key)
        value.removeAll(keepingCapacity: true)
    }

    /// Writes the headers of the notification; those of the event only if it is not the one of the notification before.
    mutating func writeHeaders(
        _ event: TriggerEvent,
        index: Int,
        _ id: NotificationID,
        _ format: NotificationFormat,
        _ month: Month?,
        registered: Timestamp,
        _ rows: borrowing Rows,
        _ row: Int
    ) throws(PostgresError) {
        if self.event == index {
            headers.removeAll(after: eventHeaders)
        } else {
            writeHeaders(event)
            self.event = index
        }
        scratch.removeAll(keepingCapacity: true)
        id.uuid.appendText(to: &scratch)
        headers.append("id", scratch)
        scratch.removeAll(keepingCapacity: true)
        _ = try rows.withBytes(row, Column.url) { format.appendEndpoint(url: $0, to: &scratch) }
        headers.append("gateway", scratch)
        headers.append("format", text: format.rawValue)
        _ = try rows.withBytes(row, Column.app) { headers.append("app", $0) }
        _ = try rows.withBytes(row, Column.channel) { headers.append("channel", $0) }
        if let month {
            scratch.removeAll(keepingCapacity: true)
            month.append(to: &scratch)
            headers.append("month", scratch)
        }
        append("registered", registered.milliseconds)
    }

    private mutating func writeHeaders(_ event: TriggerEvent) {
        headers.removeAll()
        headers.append("user", event.user)
        headers.append("event", event.id)
        headers.append("source", event.source)
        append("created", event.created.milliseconds)
        append("expires", event.expires.milliseconds)
        if let traceparent = event.traceparent { headers.append("traceparent", traceparent) }
        eventHeaders = headers.mark
    }

    private mutating func append(_ name: StaticString, _ number: Int64) {
        scratch.removeAll(keepingCapacity: true)
        Digits.append(number, to: &scratch)
        headers.append(name, scratch)
    }
}
