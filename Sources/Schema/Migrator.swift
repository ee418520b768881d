package import Postgres

/// Brings a database's schema up to this program's, forward only.
///
/// Each migration is one transaction, taken under an advisory lock and recorded with the SHA-256 of its text. Of several
/// migrators at once one works and the others wait, find everything done, and succeed too.
///
/// | column of `schema_migrations` | |
/// |---|---|
/// | `version` | the migration's number |
/// | `name` | its name |
/// | `checksum` | SHA-256 of its text |
/// | `applied_at` | when |
package struct Migrator: Sendable {
    /// Where a database stands.
    package struct Status: Sendable, Equatable {
        package var applied: [Migration]
        package var pending: [Migration]

        package init(applied: [Migration], pending: [Migration]) {
            self.applied = applied
            self.pending = pending
        }
    }

    /// Any number that nobody else in the database locks; this is "posthorn" in ASCII.
    private static let lockKey: Int64 = 0x706f_7374_686f_726e

    private let migrations: [Migration]
    private let timeout: Duration

    /// - Parameters:
    ///   - migrations: numbered from 1 without gaps.
    ///   - timeout: for each statement, the wait for another migrator included; default one hour.
    package init(_ migrations: [Migration] = Migration.all, timeout: Duration = .seconds(3600)) {
        self.migrations = migrations
        self.timeout = timeout
    }

    /// Applies what is missing.
    ///
    /// - Returns: what was applied, in order; empty if nothing was missing.
    /// - Throws: ``SchemaError``; migrations before the failing one stay applied.
    package func apply(to connection: inout Connection) throws(SchemaError) -> [Migration] {
        var applied: [Migration] = []
        while let migration = try applyNext(to: &connection) { applied.append(migration) }
        return applied
    }

    /// Says what is applied and what is missing, and changes nothing.
    ///
    /// - Throws: the same faults as ``apply(to:)`` would find before it begins.
    package func status(of connection: inout Connection) throws(SchemaError) -> Status {
        let count = try connection.transaction(.readOnly) {
            (connection: inout Connection) throws(SchemaError) in
            let exists = try database { () throws(PostgresError) in
                try connection.query("SELECT to_regclass('schema_migrations') IS NOT NULL").bool(0, 0)
            }
            return exists ? try verify(&connection) : 0
        }
        return Status(applied: Array(migrations[..<count]), pending: Array(migrations[count...]))
    }

    /// - Returns: nil if nothing is missing.
    private func applyNext(to connection: inout Connection) throws(SchemaError) -> Migration? {
        try connection.transaction { (connection: inout Connection) throws(SchemaError) in
            try lockAndApplyNext(&connection)
        }
    }

    private func lockAndApplyNext(_ connection: inout Connection) throws(SchemaError) -> Migration? {
        try database { () throws(PostgresError) in
            try connection.execute(
                "SELECT pg_advisory_xact_lock($1)",
                [.int8(Self.lockKey)],
                timeout: timeout
            )
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS schema_migrations (
                    version integer PRIMARY KEY CHECK (version > 0),
                    name text NOT NULL,
                    checksum bytea NOT NULL CHECK (octet_length(checksum) = 32),
                    applied_at timestamptz NOT NULL DEFAULT now()
                )
                """
            )
        }
        let count = try verify(&connection)
        guard count < migrations.count else { return nil }
        let migration = migrations[count]
        do throws(PostgresError) {
            try connection.executeScript(migration.sql, timeout: timeout)
        } catch {
            throw .failed(fileName: migration.fileName, error)
        }
        guard connection.isInTransaction else { throw .endsTransaction(fileName: migration.fileName) }
        try database { () throws(PostgresError) -> Void in
            try connection.execute(
                "INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, sha256(convert_to($3, 'UTF8')))",
                [.int4(migration.version), .text(migration.name), .text(migration.sql)]
            )
        }
        return migration
    }

    /// Compares what is recorded with what this program knows.
    ///
    /// - Returns: how many migrations are applied.
    private func verify(_ connection: inout Connection) throws(SchemaError) -> Int {
        let recorded = try database { () throws(PostgresError) in try self.recorded(&connection) }
        for (index, record) in recorded.enumerated() {
            guard index < migrations.count else {
                throw .newer(
                    database: recorded.last?.version ?? 0,
                    program: Int32(clamping: migrations.count)
                )
            }
            let migration = migrations[index]
            guard record.version == migration.version else { throw .gap(version: migration.version) }
            guard record.isUnchanged else { throw .edited(fileName: migration.fileName) }
        }
        return recorded.count
    }

    /// What is applied, in order, and whether its text is the one known here.
    private func recorded(
        _ connection: inout Connection
    ) throws(PostgresError) -> [(version: Int32, isUnchanged: Bool)] {
        var versions = ArrayParameter(of: .int4)
        var texts = ArrayParameter(of: .text)
        for migration in migrations {
            versions.append(int4: migration.version)
            texts.append(text: migration.sql)
        }
        let rows = try connection.query(
            """
            SELECT applied.version, coalesce(applied.checksum = sha256(convert_to(known.sql, 'UTF8')), false)
            FROM schema_migrations AS applied
            LEFT JOIN unnest($1, $2) AS known (version, sql) USING (version)
            ORDER BY applied.version
            """,
            [.array(versions), .array(texts)]
        )
        var recorded: [(version: Int32, isUnchanged: Bool)] = []
        for row in 0..<rows.count { recorded.append((try rows.int4(row, 0), try rows.bool(row, 1))) }
        return recorded
    }

    private func database<R>(_ body: () throws(PostgresError) -> R) throws(SchemaError) -> R {
        do throws(PostgresError) { return try body() } catch { throw .database(error) }
    }
}
