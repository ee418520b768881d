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

    private typealias Column = SubscriptionLookup.Column

    mutating func begin(_ pusher: PusherID) {
        key.removeAll(keepingCapacity: true)
        pusher.uuid.appendText(to: &key)
        value.removeAll(keepingCapacity: true)
    }

    mutating func writeHeaders(
        _ event: TriggerEvent,
        _ id: NotificationID,
        _ format: NotificationFormat,
        _ month: Month?,
        _ rows: borrowing Rows,
        _ row: Int
    ) throws(PostgresError) {
        headers.removeAll()
        scratch.removeAll(keepingCapacity: true)
        id.uuid.appendText(to: &scratch)
        headers.append("id", scratch)
        headers.append("user", event.user)
        scratch.removeAll(keepingCapacity: true)
        _ = try rows.withBytes(row, Column.url) { format.appendEndpoint(url: $0, to: &scratch) }
        headers.append("gateway", scratch)
        headers.append("format", text: format.rawValue)
        _ = try rows.withBytes(row, Column.app) { headers.append("app", $0) }
        _ = try rows.withBytes(row, Column.channel) { headers.append("channel", $0) }
        headers.append("event", event.id)
        headers.append("source", event.source)
        if let month {
            scratch.removeAll(keepingCapacity: true)
            month.append(to: &scratch)
            headers.append("month", scratch)
        }
        append("registered", try rows.timestampMilliseconds(row, Column.registered))
        append("created", event.created.milliseconds)
        append("expires", event.expires.milliseconds)
        if let traceparent = event.traceparent { headers.append("traceparent", traceparent) }
    }

    private mutating func append(_ name: StaticString, _ number: Int64) {
        scratch.removeAll(keepingCapacity: true)
        Digits.append(number, to: &scratch)
        headers.append(name, scratch)
    }
}
