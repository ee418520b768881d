internal import Postgres
internal import Push

/// The operator's list of gateways as it is in the database.
enum GatewayRows {
    static let statement = """
        SELECT origin, dialect, allow_private, insecure, ca_file, client_certificate_file, client_key_file FROM gateways
        """

    /// Reads the list; an entry that this version cannot read is left out, and so gets nothing.
    static func read(from connection: inout Connection) throws(PostgresError) -> [GatewayEntry] {
        let rows = try connection.query(statement)
        var entries: [GatewayEntry] = []
        for row in 0..<rows.count {
            let (text, dialect) = (try rows.text(row, 0), Dialect(rawValue: try rows.text(row, 1)))
            guard let origin = try? GatewayOrigin(text), let dialect else { continue }
            entries.append(
                GatewayEntry(
                    origin: origin,
                    dialect: dialect,
                    allowsPrivate: try rows.bool(row, 2),
                    allowsInsecure: try rows.bool(row, 3),
                    caFile: try rows.textIfPresent(row, 4),
                    clientCertificateFile: try rows.textIfPresent(row, 5),
                    clientKeyFile: try rows.textIfPresent(row, 6)
                )
            )
        }
        return entries
    }
}
