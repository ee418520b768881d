package import Postgres
package import Push

/// The operator's list of gateways in the database: what commands do to it.
package enum GatewayDirectory {
    /// What became of an entry that was added.
    package enum Addition: Sendable, Equatable {
        case added
        /// There was one of this origin, which had other settings.
        case replaced
        case unchanged
    }

    /// An entry, with how many pushers are registered at it.
    package struct Listing: Sendable, Equatable {
        package let entry: GatewayEntry
        package let pushers: Int64
    }

    /// Puts an entry on the list, in the place of one of the same origin.
    ///
    /// - Throws: ``RegistrarError/gatewayFaults(_:)`` for an entry that does not go together or names a file that cannot be read
    ///   here; ``RegistrarError/gatewayInUse(origin:pushers:change:)`` if it would change the dialect of registered pushers, whose addresses
    ///   fit one dialect only.
    package static func add(
        _ entry: GatewayEntry,
        to connection: inout Connection
    ) throws(RegistrarError) -> Addition {
        let faults = entry.faults + GatewayFiles.faults(of: entry)
        guard faults.isEmpty else { throw .gatewayFaults(faults) }
        return try connection.transaction(attempts: 5) {
            (connection: inout Connection) throws(RegistrarError) in
            let existing = try find(entry.origin, lock: true, in: &connection)
            if existing == entry { return .unchanged }
            if let existing, existing.dialect != entry.dialect {
                try refuseIfUsed(entry.origin, "given another dialect", in: &connection)
            }
            try write(entry, to: &connection)
            return existing == nil ? .added : .replaced
        }
    }

    /// Takes an entry off the list.
    ///
    /// - Throws: ``RegistrarError/unknownGateway(origin:)``; ``RegistrarError/gatewayInUse(origin:pushers:change:)`` as long as pushers are
    ///   registered there.
    package static func remove(
        _ origin: GatewayOrigin,
        from connection: inout Connection
    ) throws(RegistrarError) {
        try connection.transaction(attempts: 5) { (connection: inout Connection) throws(RegistrarError) in
            guard try find(origin, lock: true, in: &connection) != nil else {
                throw .unknownGateway(origin: origin.text)
            }
            try refuseIfUsed(origin, "removed", in: &connection)
            try database { () throws(PostgresError) -> Void in
                try connection.execute("DELETE FROM gateways WHERE origin = $1", [.text(origin.text)])
            }
        }
    }

    /// All entries, by origin, with how many pushers each has; counting reads the index of all pushers.
    package static func list(from connection: inout Connection) throws(RegistrarError) -> [Listing] {
        let entries = try entries(from: &connection)
        let rows = try database { () throws(PostgresError) in
            try connection.query(
                """
                SELECT origin, (SELECT count(*) FROM pushers WHERE gateway_origin = origin) FROM gateways
                """,
                timeout: .seconds(600)
            )
        }
        var counts: [String: Int64] = [:]
        for row in 0..<rows.count {
            let (origin, count) = try database { () throws(PostgresError) in
                (try rows.text(row, 0), try rows.int8(row, 1))
            }
            counts[origin] = count
        }
        return entries.map { Listing(entry: $0, pushers: counts[$0.origin.text] ?? 0) }
    }

    // MARK: - Rows

    private static let columns = """
        origin, dialect, allow_private, insecure, ca_file, client_certificate_file, client_key_file,
        confirm_rejections
        """

    /// All entries, by origin.
    static func entries(from connection: inout Connection) throws(RegistrarError) -> [GatewayEntry] {
        try database { () throws(PostgresError) in
            // COLLATE "C": the same order whatever the database's language.
            let rows = try connection.query("SELECT \(columns) FROM gateways ORDER BY origin COLLATE \"C\"")
            var entries: [GatewayEntry] = []
            for row in 0..<rows.count { entries.append(try entry(rows, row)) }
            return entries
        }
    }

    private static func find(
        _ origin: GatewayOrigin,
        lock: Bool,
        in connection: inout Connection
    ) throws(RegistrarError) -> GatewayEntry? {
        try database { () throws(PostgresError) in
            let rows = try connection.query(
                "SELECT \(columns) FROM gateways WHERE origin = $1\(lock ? " FOR UPDATE" : "")",
                [.text(origin.text)]
            )
            return rows.count == 0 ? nil : try entry(rows, 0)
        }
    }

    private static func entry(_ rows: borrowing Rows, _ row: Int) throws(PostgresError) -> GatewayEntry {
        let origin: GatewayOrigin
        do throws(GatewayURLError) {
            origin = try GatewayOrigin(text(rows, row))
        } catch {
            throw PostgresError(.decoding(column: "origin"), "a gateway's origin \(error)")
        }
        guard let dialect = Dialect(rawValue: try rows.text(row, 1)) else {
            throw PostgresError(.decoding(column: "dialect"), "a gateway's dialect is unknown here")
        }
        return GatewayEntry(
            origin: origin,
            dialect: dialect,
            allowsPrivate: try rows.bool(row, 2),
            allowsInsecure: try rows.bool(row, 3),
            caFile: try rows.textIfPresent(row, 4),
            clientCertificateFile: try rows.textIfPresent(row, 5),
            clientKeyFile: try rows.textIfPresent(row, 6),
            confirmRejections: Int(try rows.int4(row, 7))
        )
    }

    /// An origin that does not read gives an empty text, which is no origin.
    private static func text(_ rows: borrowing Rows, _ row: Int) -> String {
        do throws(PostgresError) { return try rows.text(row, 0) } catch { return "" }
    }

    private static func write(
        _ entry: GatewayEntry,
        to connection: inout Connection
    ) throws(RegistrarError) {
        try database { () throws(PostgresError) -> Void in
            try connection.execute(
                """
                INSERT INTO gateways (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                ON CONFLICT (origin) DO UPDATE SET
                    dialect = excluded.dialect, allow_private = excluded.allow_private, insecure = excluded.insecure,
                    ca_file = excluded.ca_file, client_certificate_file = excluded.client_certificate_file,
                    client_key_file = excluded.client_key_file, confirm_rejections = excluded.confirm_rejections
                """,
                [
                    .text(entry.origin.text), .text(entry.dialect.rawValue), .bool(entry.allowsPrivate),
                    .bool(entry.allowsInsecure), .text(entry.caFile), .text(entry.clientCertificateFile),
                    .text(entry.clientKeyFile), .int2(Int16(clamping: entry.confirmRejections)),
                ]
            )
        }
    }

    private static func refuseIfUsed(
        _ origin: GatewayOrigin,
        _ change: String,
        in connection: inout Connection
    ) throws(RegistrarError) {
        let count = try database { () throws(PostgresError) in
            try connection.query(
                "SELECT count(*) FROM pushers WHERE gateway_origin = $1",
                [.text(origin.text)],
                timeout: .seconds(600)
            ).int8(0, 0)
        }
        if count > 0 { throw .gatewayInUse(origin: origin.text, pushers: count, change: change) }
    }
}
