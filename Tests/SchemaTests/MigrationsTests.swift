internal import LocalServices
internal import Postgres
internal import Schema
internal import Support
internal import Testing

struct Migrations {
    private static let first = Migration(version: 1, name: "a", sql: "CREATE TABLE a (id int4)")
    private static let second = Migration(
        version: 2,
        name: "b",
        sql: "CREATE TABLE b (id int4); INSERT INTO b VALUES (1)"
    )

    private func connect() throws -> Connection {
        try Connection(connectingTo: Configuration(PostgresService.freshDatabase()))
    }

    private func fault(_ body: () throws(SchemaError) -> Void) -> SchemaError? {
        do throws(SchemaError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `the list holds every file, in order and unchanged`() {
        let files = Files.names(in: Checkout.path("migrations")).filter { $0.hasSuffix(".sql") }
        #expect(!files.isEmpty)
        #expect(Migration.all.map(\.fileName) == files)
        #expect(Migration.all.map(\.version) == Array(1...Int32(files.count)))
        for migration in Migration.all {
            #expect(
                Files.read(Checkout.path("migrations/\(migration.fileName)")) == Array(migration.sql.utf8)
            )
        }
    }

    @Test func `the program's own migrations apply, and only once`() throws {
        var connection = try connect()
        let before = try Migrator().status(of: &connection)
        #expect(before.pending == Migration.all && before.applied.isEmpty)
        #expect(try Migrator().apply(to: &connection) == Migration.all)
        #expect(try Migrator().apply(to: &connection).isEmpty)
        let after = try Migrator().status(of: &connection)
        #expect(after.applied == Migration.all && after.pending.isEmpty)
        let rows = try connection.query(
            "SELECT checksum = sha256(convert_to($1, 'UTF8')) FROM schema_migrations ORDER BY version",
            [.text(Migration.all[0].sql)]
        )
        #expect(try rows.bool(0, 0))
    }

    @Test func `only what is missing is applied`() throws {
        var connection = try connect()
        #expect(try Migrator([Self.first]).apply(to: &connection) == [Self.first])
        let status = try Migrator([Self.first, Self.second]).status(of: &connection)
        #expect(status == Migrator.Status(applied: [Self.first], pending: [Self.second]))
        #expect(try Migrator([Self.first, Self.second]).apply(to: &connection) == [Self.second])
    }

    @Test func `an edited migration is refused by name`() throws {
        var connection = try connect()
        _ = try Migrator([Self.first]).apply(to: &connection)
        let edited = Migration(version: 1, name: "a", sql: Self.first.sql + " ")
        let migrator = Migrator([edited, Self.second])
        let fault = fault { () throws(SchemaError) in _ = try migrator.apply(to: &connection) }
        #expect(fault == .edited(fileName: "0001_a.sql"))
        #expect(fault?.description.contains("0001_a.sql") == true)
        #expect(self.fault { () throws(SchemaError) in _ = try migrator.status(of: &connection) } == fault)
        let rows = try connection.query("SELECT to_regclass('b') IS NULL")
        #expect(try rows.bool(0, 0))
    }

    @Test func `a database newer than the program is refused`() throws {
        var connection = try connect()
        _ = try Migrator([Self.first, Self.second]).apply(to: &connection)
        let fault = fault { () throws(SchemaError) in _ = try Migrator([Self.first]).apply(to: &connection) }
        #expect(fault == .newer(database: 2, program: 1))
    }

    @Test func `a gap in the record is refused`() throws {
        var connection = try connect()
        _ = try Migrator([Self.first, Self.second]).apply(to: &connection)
        try connection.execute("DELETE FROM schema_migrations WHERE version = 1")
        let fault = fault { () throws(SchemaError) in
            _ = try Migrator([Self.first, Self.second]).apply(to: &connection)
        }
        #expect(fault == .gap(version: 1))
    }

    @Test func `a failing migration is undone whole, those before it stay`() throws {
        var connection = try connect()
        let bad = Migration(version: 2, name: "bad", sql: "CREATE TABLE b (id int4); SELECT 1/0")
        let fault = fault { () throws(SchemaError) in
            _ = try Migrator([Self.first, bad]).apply(to: &connection)
        }
        guard case .failed("0002_bad.sql", let error) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(error.sqlState == "22012")
        let rows = try connection.query("SELECT to_regclass('a') IS NOT NULL, to_regclass('b') IS NULL")
        #expect(try rows.bool(0, 0) && rows.bool(0, 1))
        #expect(try Migrator([Self.first, Self.second]).apply(to: &connection) == [Self.second])
    }

    @Test func `a migration that commits by itself is refused`() throws {
        var connection = try connect()
        let bad = Migration(version: 1, name: "bad", sql: "CREATE TABLE b (id int4); COMMIT")
        let fault = fault { () throws(SchemaError) in _ = try Migrator([bad]).apply(to: &connection) }
        #expect(fault == .endsTransaction(fileName: "0001_bad.sql"))
    }

    @Test func `of several migrators at once one works and all succeed`() throws {
        let url = try PostgresService.freshDatabase()
        let slow = Migration(version: 1, name: "slow", sql: "CREATE TABLE s (id int4); SELECT pg_sleep(0.3)")
        let runs = (0..<4).map { _ in
            Background { () -> Int? in
                guard let configuration = try? Configuration(url),
                    var connection = try? Connection(connectingTo: configuration)
                else { return nil }
                return try? Migrator([slow, Self.second]).apply(to: &connection).count
            }
        }
        let counts = try runs.map { try $0.value() }
        #expect(counts.allSatisfy { $0 != nil })
        #expect(counts.compactMap { $0 }.reduce(0, +) == 2)
    }
}
