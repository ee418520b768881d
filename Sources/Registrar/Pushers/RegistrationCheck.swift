package import Postgres
package import Push

/// What a registration is checked against beyond its own form: the gateways on the list, the channels there are, and the month.
///
/// The one way by which a pusher gets in, over HTTP or from an import. It holds a copy of what the database said; whoever keeps it longer
/// than a moment refreshes it. What has changed since is caught by the database's own constraints.
package struct RegistrationCheck: Sendable {
    package private(set) var gateways: GatewayList
    package private(set) var channels: Set<String>
    /// With the database's month.
    package private(set) var rules: RegistrationRules
    private let zone: String

    /// - Parameters:
    ///   - connection: the database that registrations go to.
    ///   - zone: whose calendar says which month it is, such as `Europe/Berlin`.
    ///   - encryption: whether this service seals messages.
    /// - Throws: ``RegistrarError``; ``RegistrarError/impossibleMonth(_:)`` if the database's clock is far off.
    package init(
        from connection: inout Connection,
        zone: String,
        encryption: RegistrationRules.EncryptionRule
    ) throws(RegistrarError) {
        self.zone = zone
        gateways = try GatewayList(from: &connection)
        channels = try Self.channels(from: &connection)
        rules = RegistrationRules(
            currentMonth: try Self.month(zone, from: &connection),
            encryption: encryption
        )
    }

    /// Reads gateways, channels and month again.
    package mutating func refresh(from connection: inout Connection) throws(RegistrarError) {
        try gateways.refresh(from: &connection)
        channels = try Self.channels(from: &connection)
        rules.currentMonth = try Self.month(zone, from: &connection)
    }

    /// Checks that messages can be sent where the registration says.
    ///
    /// - Parameters:
    ///   - registration: what a device sent.
    ///   - prefix: stands before the field's name in an error, such as `pusher.`.
    /// - Throws: ``RegistrationError`` for the first field that does not do.
    package func check(
        _ registration: PusherRegistration,
        prefix: String = ""
    ) throws(RegistrationError) {
        try registration.check(against: gateways[registration.url.origin], prefix: prefix)
    }

    /// Checks that there are such channels.
    package func check(_ channels: [ImportLine.ChannelSetting]) throws(RegistrationError) {
        for setting in channels where !self.channels.contains(setting.channel) {
            throw RegistrationError(
                .invalid,
                field: "channels.\(setting.channel)",
                "is no channel of this service"
            )
        }
    }

    /// Reads a line of an import and checks all of it.
    package func read(_ line: [UInt8]) throws(RegistrationError) -> ImportLine {
        let line = try ImportLine(line, rules: rules)
        if case .set(let registration) = line.command { try check(registration, prefix: "pusher.") }
        try check(line.channels)
        return line
    }

    private static func channels(from connection: inout Connection) throws(RegistrarError) -> Set<String> {
        try database { () throws(PostgresError) in
            let rows = try connection.query("SELECT channel_id FROM channels")
            var channels: Set<String> = []
            for row in 0..<rows.count { channels.insert(try rows.text(row, 0)) }
            return channels
        }
    }

    private static func month(
        _ zone: String,
        from connection: inout Connection
    ) throws(RegistrarError) -> Month {
        let ordinal = try database { () throws(PostgresError) in
            try connection.query("SELECT current_month($1)", [.text(zone)]).int4(0, 0)
        }
        guard let month = Month(ordinal: ordinal) else { throw .impossibleMonth(ordinal) }
        return month
    }
}
