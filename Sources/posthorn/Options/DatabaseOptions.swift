internal import Postgres
internal import Settings

/// How to reach PostgreSQL.
enum DatabaseOptions {
    static let url = Option(
        required: "database-url",
        .secret(.url(schemes: ["postgresql", "postgres"])),
        help:
            "Database with the registrations; it may hold a password, so better in the environment or the file."
    )

    static let group = OptionGroup("Database", url)

    /// A session with the database that was named.
    static func connect(_ values: Values) throws -> Connection {
        try Connection(connectingTo: Configuration(values[url].reveal()))
    }
}
