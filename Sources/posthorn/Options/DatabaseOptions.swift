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
}
