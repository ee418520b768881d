package import Postgres
package import Push

/// What is to hold for a channel; nil leaves it as it is, or at a new channel's default.
package struct ChannelChange: Sendable, Equatable {
    package var id: String
    /// CloudEvents types whose events belong to this channel; earlier ones stay.
    package var triggerTypes: [String] = []
    /// For pushers that say nothing about the channel; a new channel is `not_set` (A_27193-02, gemF_PushNotification).
    package var defaultStatus: ChannelStatus?
    /// Whether pushers without keys get its events unencrypted; a new channel says no.
    package var allowsPlain: Bool?

    package init(id: String) { self.id = id }
}

/// A channel as it is.
package struct Channel: Sendable, Equatable {
    package let id: String
    package let defaultStatus: ChannelStatus
    package let allowsPlain: Bool
    /// Sorted.
    package let triggerTypes: [String]
}

/// The channels and trigger types in the database.
package enum ChannelDirectory {
    /// What an addition did.
    package struct Addition: Sendable, Equatable {
        package let channel: Channel
        package let isNew: Bool
        /// Trigger types that belonged to another channel before.
        package let moved: [MovedType]
    }

    package struct MovedType: Sendable, Equatable {
        package let triggerType: String
        /// The channel that it belonged to.
        package let from: String

        package init(triggerType: String, from: String) {
            self.triggerType = triggerType
            self.from = from
        }
    }

    /// Adds a channel, or changes the one there is.
    ///
    /// - Throws: ``RegistrarError/channelFault(_:)`` for a name that no event or device could use.
    package static func add(
        _ change: ChannelChange,
        to connection: inout Connection
    ) throws(RegistrarError) -> Addition {
        if let fault = fault(of: change) { throw .channelFault(fault) }
        return try connection.transaction(attempts: 5) {
            (connection: inout Connection) throws(RegistrarError) in
            let isNew = try write(change, to: &connection)
            let moved = try assign(change.triggerTypes, to: change.id, in: &connection)
            guard let channel = try read(only: change.id, from: &connection).first else {
                throw .conflict
            }
            return Addition(channel: channel, isNew: isNew, moved: moved)
        }
    }

    /// All channels, by id.
    package static func list(from connection: inout Connection) throws(RegistrarError) -> [Channel] {
        try read(only: nil, from: &connection)
    }

    private static func fault(of change: ChannelChange) -> String? {
        guard ChannelID.isValid(change.id.utf8.span) else {
            return
                "a channel's name has 1 to \(ChannelID.maximumLength) letters, digits and . _ : - and begins with a letter or digit"
        }
        for type in change.triggerTypes {
            guard (1...TriggerEvent.textLimit).contains(type.utf8.count), TextRules.isClean(type.utf8.span)
            else {
                return
                    "a trigger type has 1 to \(TriggerEvent.textLimit) bytes and no control characters"
            }
        }
        return nil
    }

    private static func write(
        _ change: ChannelChange,
        to connection: inout Connection
    ) throws(RegistrarError) -> Bool {
        try database { () throws(PostgresError) in
            try connection.query(
                """
                INSERT INTO channels (channel_id, default_status, allow_plain)
                VALUES ($1, coalesce($2, 'not_set'), coalesce($3, false))
                ON CONFLICT (channel_id) DO UPDATE SET
                    default_status = coalesce($2, channels.default_status),
                    allow_plain = coalesce($3, channels.allow_plain)
                RETURNING xmax = 0
                """,
                [.text(change.id), .text(change.defaultStatus?.rawValue), .bool(change.allowsPlain)]
            ).bool(0, 0)
        }
    }

    private static func assign(
        _ types: [String],
        to channel: String,
        in connection: inout Connection
    ) throws(RegistrarError) -> [MovedType] {
        guard !types.isEmpty else { return [] }
        return try database { () throws(PostgresError) in
            let parameters: Parameters = [
                .array(ArrayParameter(text: Set(types).sorted().map(Optional.some))), .text(channel),
            ]
            let rows = try connection.query(
                """
                SELECT trigger_type, channel_id FROM trigger_types
                WHERE trigger_type = ANY ($1) AND channel_id <> $2 ORDER BY trigger_type FOR UPDATE
                """,
                parameters
            )
            var moved: [MovedType] = []
            for row in 0..<rows.count {
                moved.append(MovedType(triggerType: try rows.text(row, 0), from: try rows.text(row, 1)))
            }
            try connection.execute(
                """
                INSERT INTO trigger_types (trigger_type, channel_id) SELECT t, $2 FROM unnest($1) AS t
                ON CONFLICT (trigger_type) DO UPDATE SET channel_id = excluded.channel_id
                """,
                parameters
            )
            return moved
        }
    }

    private static func read(
        only id: String?,
        from connection: inout Connection
    ) throws(RegistrarError) -> [Channel] {
        try database { () throws(PostgresError) in
            let rows = try connection.query(
                """
                SELECT channel_id, default_status, allow_plain,
                    ARRAY(SELECT trigger_type FROM trigger_types t WHERE t.channel_id = c.channel_id
                        ORDER BY trigger_type COLLATE "C")
                FROM channels c WHERE $1 IS NULL OR channel_id = $1 ORDER BY channel_id COLLATE "C"
                """,
                [.text(id)]
            )
            var channels: [Channel] = []
            for row in 0..<rows.count {
                guard let status = ChannelStatus(rawValue: try rows.text(row, 1)) else {
                    throw PostgresError(
                        .decoding(column: "default_status"),
                        "a channel's default is unknown here"
                    )
                }
                channels.append(
                    Channel(
                        id: try rows.text(row, 0),
                        defaultStatus: status,
                        allowsPlain: try rows.bool(row, 2),
                        triggerTypes: (try rows.textArray(row, 3) ?? []).compactMap { $0 }
                    )
                )
            }
            return channels
        }
    }
}
