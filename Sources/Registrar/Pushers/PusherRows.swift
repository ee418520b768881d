internal import Postgres
internal import Push

/// The columns of pushers to be written, one array each, for one statement over all of them.
struct PusherRows {
    /// A sealed chain and what its row says about it.
    struct Chain {
        let keyIdentifier: String?
        let month: Month
        let keyID: String
    }

    private(set) var count = 0
    private var texts = [ArrayParameter](
        repeating: ArrayParameter(of: .text),
        count: TextColumn.allCases.count
    )
    private var pushers = ArrayParameter(of: .uuid)
    private var months = ArrayParameter(of: .int4)
    private var chains = ArrayParameter(of: .bytea)

    /// In the statement's order, from $1.
    private enum TextColumn: Int, CaseIterable {
        case user, app, pushkey, appName, deviceName, language, profileTag, url, origin, data, keyIdentifier,
            keyID
        case enabled, disabled
    }

    /// $1 to $14 as ``TextColumn``, $15 pusher ids, $16 months, $17 sealed chains.
    ///
    /// A row that is there keeps its pusher id, which the new chain is bound to, and gets a registration time later than the one before, so
    /// that no answer to an earlier message counts against it.
    static let statement = """
        INSERT INTO pushers AS p (
            user_id, app_id, pushkey, app_display_name, device_display_name, lang, profile_tag, url, gateway_origin,
            data, key_identifier, chain_key_id, enabled_channels, disabled_channels, pusher_id, chain_month,
            chain_sealed, registered_at
        )
        SELECT
            r.user_id, r.app_id, r.pushkey, r.app_display_name, r.device_display_name, r.lang, r.profile_tag, r.url,
            r.gateway_origin, r.data, r.key_identifier, r.chain_key_id, string_to_array(r.enabled, ','),
            string_to_array(r.disabled, ','), r.pusher_id, r.chain_month, r.chain_sealed, now()
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) AS r (
            user_id, app_id, pushkey, app_display_name, device_display_name, lang, profile_tag, url, gateway_origin,
            data, key_identifier, chain_key_id, enabled, disabled, pusher_id, chain_month, chain_sealed
        )
        ON CONFLICT (user_id, app_id, pushkey) DO UPDATE SET
            app_display_name = excluded.app_display_name, device_display_name = excluded.device_display_name,
            lang = excluded.lang, profile_tag = excluded.profile_tag, url = excluded.url,
            gateway_origin = excluded.gateway_origin, data = excluded.data, key_identifier = excluded.key_identifier,
            chain_key_id = excluded.chain_key_id, chain_month = excluded.chain_month,
            chain_sealed = excluded.chain_sealed, enabled_channels = excluded.enabled_channels,
            disabled_channels = excluded.disabled_channels,
            registered_at = greatest(excluded.registered_at, p.registered_at + interval '1 millisecond')
        WHERE p.pusher_id = excluded.pusher_id
        """

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - registration: what was registered.
    ///   - pusher: the id of the row there is, else a new one.
    ///   - chain: what the row says about its chain; nil for a pusher without keys.
    ///   - sealed: the chain, bound to `pusher`; unused without `chain`.
    mutating func append(
        _ registration: RegistrationBatch.Registration,
        _ pusher: PusherID,
        _ chain: Chain?,
        sealed: [UInt8]
    ) {
        count += 1
        let fields = registration.pusher
        text(.user, registration.user)
        text(.app, fields.address.appID)
        text(.pushkey, fields.address.pushkey)
        text(.appName, fields.appDisplayName)
        text(.deviceName, fields.deviceDisplayName)
        text(.language, fields.language)
        text(.profileTag, fields.profileTag)
        text(.url, fields.url.text)
        text(.origin, fields.url.origin.text)
        text(.data, fields.data.map { String(decoding: $0, as: UTF8.self) })
        text(.keyIdentifier, chain?.keyIdentifier)
        text(.keyID, chain?.keyID)
        // A comma is no character of a channel's name.
        text(.enabled, Self.list(registration.channels) { $0 == .enabled })
        text(.disabled, Self.list(registration.channels) { $0 != .enabled })
        var bytes: [UInt8] = []
        pusher.uuid.appendBytes(to: &bytes)
        pushers.append(uuid: bytes.span)
        if let chain {
            months.append(int4: chain.month.ordinal)
            chains.append(bytea: sealed.span)
        } else {
            months.appendNull(.int4)
            chains.appendNull(.bytea)
        }
    }

    /// Writes them all.
    ///
    /// - Returns: how many rows were written; fewer than there are if somebody got in between without keeping to the locks.
    func write(to connection: inout Connection) throws(PostgresError) -> Int {
        guard count > 0 else { return 0 }
        var parameters = Parameters()
        for column in texts { parameters.append(column) }
        parameters.append(pushers)
        parameters.append(months)
        parameters.append(chains)
        return try connection.execute(Self.statement, parameters)
    }

    private mutating func text(_ column: TextColumn, _ value: String?) {
        texts[column.rawValue].append(text: value)
    }

    private static func list(
        _ channels: [ImportLine.ChannelSetting],
        _ belongs: (ChannelStatus) -> Bool
    ) -> String {
        channels.filter { belongs($0.status) }.map(\.channel).joined(separator: ",")
    }
}
