package import Postgres
package import Push

/// The one query of a turn: every subscribed pusher of every event in the batch, and the month by the database's clock.
///
/// | column | type | null when |
/// |---|---|---|
/// | `month` | int4 | never |
/// | `event` | int4, index into the batch's events | never |
/// | `channel_id` | text | the event's channel or type is unknown |
/// | `allow_plain` | bool | as above |
/// | `pusher_id` … `registered_at` | | the event has no subscriber |
/// | `data` | text | the registration had none beside the url |
/// | `key_identifier`, `chain_…` | | the pusher has no key chain |
///
/// Every event gives at least one row. The pushers of an event are read in a subquery of their own (`OFFSET 0` keeps the planner from
/// merging it into a join over the whole table): one index path, `pushers_pkey` by user, whatever the statistics say.
package struct SubscriptionLookup {
    enum Column {
        static let month = 0
        static let event = 1
        static let channel = 2
        static let allowPlain = 3
        static let pusher = 4
        static let app = 5
        static let pushkey = 6
        static let url = 7
        static let dialect = 8
        static let data = 9
        static let keyIdentifier = 10
        static let chainMonth = 11
        static let chainKey = 12
        static let chain = 13
        static let registered = 14
    }

    /// $1 user ids, $2 channels or null, $3 trigger types, $4 time zone.
    static let statement = """
        WITH clock AS MATERIALIZED (SELECT current_month($4) AS month)
        SELECT clock.month, (e.position - 1)::int4, c.channel_id, c.allow_plain,
               p.pusher_id, p.app_id, p.pushkey, p.url, g.dialect, p.data,
               p.key_identifier, p.chain_month, p.chain_key_id, p.chain_sealed, p.registered_at
        FROM clock
        CROSS JOIN unnest($1::text[], $2::text[], $3::text[])
             WITH ORDINALITY AS e (user_id, channel_id, trigger_type, position)
        LEFT JOIN trigger_types t ON e.channel_id IS NULL AND t.trigger_type = e.trigger_type
        LEFT JOIN channels c ON c.channel_id = coalesce(e.channel_id, t.channel_id)
        LEFT JOIN LATERAL (
            SELECT * FROM pushers
            WHERE pushers.user_id = e.user_id
              AND (c.channel_id = ANY (pushers.enabled_channels)
                   OR (c.default_status = 'enabled' AND c.channel_id <> ALL (pushers.disabled_channels)))
            OFFSET 0
        ) p ON true
        LEFT JOIN gateways g ON g.origin = p.gateway_origin
        """

    /// What every row has, subscriber or not.
    struct Head {
        /// By the database's clock; nil if it cannot be.
        let month: Month?
        let monthOrdinal: Int32
        /// Index into the batch's events.
        let event: Int
        let hasChannel: Bool
        let hasPusher: Bool

        init(_ rows: borrowing Rows, _ row: Int) throws(PostgresError) {
            monthOrdinal = try rows.int4(row, Column.month)
            month = Month(ordinal: monthOrdinal)
            event = Int(try rows.int4(row, Column.event))
            hasChannel = try !rows.isNull(row, Column.channel)
            hasPusher = try !rows.isNull(row, Column.pusher)
        }
    }

    private var users = ArrayParameter(of: .text)
    private var channels = ArrayParameter(of: .text)
    private var types = ArrayParameter(of: .text)
    private let zone: String

    package init(zone: String) {
        self.zone = zone
    }

    /// Asks for all events of a batch at once.
    package mutating func run(
        _ events: [(record: Int, event: TriggerEvent)],
        on connection: inout Connection
    ) throws(PostgresError) -> Rows {
        users.removeAll()
        channels.removeAll()
        types.removeAll()
        for (_, event) in events {
            users.append(text: event.user.span)
            if let channel = event.channel {
                channels.append(text: channel.span)
            } else {
                channels.appendNull(.text)
            }
            types.append(text: event.type.span)
        }
        var parameters = Parameters()
        parameters.append(users)
        parameters.append(channels)
        parameters.append(types)
        parameters.append(text: zone)
        return try connection.query(Self.statement, parameters)
    }
}
