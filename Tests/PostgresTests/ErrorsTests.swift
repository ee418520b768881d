internal import Postgres
internal import Support
internal import Testing

struct `Errors by class` {
    @Test(arguments: Way.allCases)
    func `a constraint is named`(way: Way) throws {
        let table = try way.table(
            "id int4 CONSTRAINT \(uniqueName("k").replacing("-", with: "_")) PRIMARY KEY, n int4 NOT NULL, CONSTRAINT positive CHECK (n > 0)"
        )
        var connection = try way.connect()
        try connection.execute("INSERT INTO \(table) VALUES (1, 1)")
        let check = failure { () throws(PostgresError) in
            try connection.execute("INSERT INTO \(table) VALUES (2, -1)")
        }
        #expect(check?.kind == .constraint(name: "positive"))
        #expect(check?.sqlState == "23514")
        let missing = failure { () throws(PostgresError) in
            try connection.execute("INSERT INTO \(table) VALUES (3, NULL)")
        }
        #expect(missing?.kind == .constraint(name: ""))
        #expect(missing?.column == "n")
        let twice = failure { () throws(PostgresError) in
            try connection.execute("INSERT INTO \(table) VALUES (1, 1)")
        }
        #expect(twice?.sqlState == "23505")
        #expect(twice?.isRetriable == false)
    }

    @Test(arguments: Way.allCases)
    func `a write to what is read-only has a class of its own`(way: Way) throws {
        let table = try way.table("id int4")
        var connection = try way.connect()
        let error = failure { () throws(PostgresError) in
            try connection.transaction(.readOnly) {
                (connection: inout Connection) throws(PostgresError) -> Void in
                try connection.execute("INSERT INTO \(table) VALUES (1)")
            }
        }
        #expect(error?.kind == .readOnly)
        #expect(error?.isRetriable == true)
        #expect(connection.isInTransaction == false)
    }

    @Test(arguments: [
        ("SELEC 1", "42601", PostgresError.Kind.statement), ("SELECT * FROM nowhere", "42P01", .statement),
        ("SELECT 1/0", "22012", .data), ("SELECT pg_advisory_lock(1, 2, 3)", "42883", .statement),
    ])
    func `statements that do not fit are told from data that does not`(
        sql: String,
        state: String,
        kind: PostgresError.Kind
    ) throws {
        for way in Way.allCases {
            var connection = try way.connect()
            let error = failure { () throws(PostgresError) in try connection.execute(sql) }
            #expect(error?.kind == kind)
            #expect(error?.sqlState == state)
            try connection.execute("SELECT 1")
        }
    }

    @Test func `permission and exhaustion are told apart at the door`() throws {
        var connection = try Way.direct.connect()
        let barred = uniqueName("barred").replacing("-", with: "_")
        try connection.executeScript(
            "CREATE ROLE \(barred) NOLOGIN; CREATE ROLE \(barred)_full LOGIN CONNECTION LIMIT 0"
        )
        var configuration = try Way.direct.configuration()
        configuration["user"] = barred
        let permission = failure { () throws(PostgresError) in _ = try Connection(connectingTo: configuration)
        }
        #expect(permission?.kind == .permission)
        #expect(permission?.sqlState == "28000")
        configuration["user"] = "\(barred)_full"
        let exhaustion = failure { () throws(PostgresError) in _ = try Connection(connectingTo: configuration)
        }
        #expect(exhaustion?.kind == .insufficientResources)
        #expect(exhaustion?.isRetriable == true)
        let denied = failure { () throws(PostgresError) in
            try connection.executeScript("SET ROLE \(barred); SELECT * FROM pg_authid")
        }
        #expect(denied?.kind == .permission)
    }

    @Test func `nobody listening is a lost connection, and not for ever`() throws {
        var configuration = try Configuration("host=/nonexistent user=nobody dbname=none")
        configuration.firstBackoff = .milliseconds(1)
        var connection = Connection(configuration)
        let first = failure { () throws(PostgresError) in try connection.execute("SELECT 1") }
        #expect(first?.kind == .connectionLost)
        let budget = failure { () throws(PostgresError) in
            try connection.ensureConnected(within: .milliseconds(300))
        }
        #expect(budget?.kind == .connectionLost)
        #expect(budget?.isRetriable == true)
    }

    @Test func `COPY in the wrong place does not hang`() throws {
        var connection = try Way.direct.connect()
        for sql in ["COPY (SELECT 1) TO STDOUT", "COPY pg_am FROM STDIN"] {
            let error = failure { () throws(PostgresError) in try connection.execute(sql) }
            #expect(error?.kind == .usage)
            try connection.ensureConnected(within: .seconds(30))
        }
        let text = failure { () throws(PostgresError) in
            try connection.copyIn("COPY pg_am FROM STDIN") { (_: inout CopyWriter) throws(PostgresError) in }
        }
        #expect(text?.kind == .usage)
        let none = failure { () throws(PostgresError) in
            try connection.copyIn("COPY nowhere FROM STDIN (FORMAT binary)") {
                (_: inout CopyWriter) throws(PostgresError) in
            }
        }
        #expect(none?.kind == .statement)
        try connection.execute("SELECT 1")
    }
}

struct `Errors keep secrets` {
    @Test(arguments: Way.allCases)
    func `no value of a row or parameter is in an error`(way: Way) throws {
        let table = try way.table("word text PRIMARY KEY CHECK (word <> 'hunter2-check'), number int4")
        var connection = try way.connect()
        try connection.execute("INSERT INTO \(table) VALUES ($1)", [.text("hunter2")])
        let statements: [(String, Parameters)] = [
            ("INSERT INTO \(table) VALUES ($1)", [.text("hunter2")]),
            ("INSERT INTO \(table) VALUES ($1)", [.text("hunter2-check")]),
            ("SELECT $1::text::int4", [.text("hunter2")]),
            ("SELECT $1::text::uuid", [.text("hunter2")]),
            ("SELECT $1::text::jsonb", [.text("hunter2")]),
            ("DO $$ BEGIN RAISE EXCEPTION 'the word is hunter2'; END $$", []),
        ]
        for (sql, parameters) in statements {
            let error = failure { () throws(PostgresError) in try connection.execute(sql, parameters) }
            let description = try #require(error).description
            #expect(!description.contains("hunter2"), "\(description)")
        }
        let copy = failure { () throws(PostgresError) in
            try connection.copyIn("COPY \(table) (word) FROM STDIN (FORMAT binary)") {
                (writer: inout CopyWriter) throws(PostgresError) in
                writer.append(text: "hunter2")
                try writer.endRow()
            }
        }
        #expect(copy?.kind == .constraint(name: "\(table)_pkey"))
        #expect(copy?.description.contains("hunter2") == false)
    }

    @Test(arguments: [
        "postgresql://user:hunter2@[host/db", "host=h password=hunter2 no_such_option=1", "hunter2",
        "postgresql://user:hunter2/x@host/db", "postgresql://user:x@hunter2@host/db",
    ])
    func `a connection string that cannot be read is not repeated`(text: String) throws {
        let error = failure { () throws(PostgresError) in _ = try Configuration(text) }
        #expect(error?.kind == .usage)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test func `a configuration shows no password`() throws {
        let configuration = try Configuration(
            "postgresql://user:hunter2@db.example:5433/push?connect_timeout=3"
        )
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), "\([configuration])", dumped] {
            #expect(!text.contains("hunter2"), "\(text)")
            #expect(text.contains("db.example"))
        }
        #expect(configuration.connectTimeout == .seconds(3))
        #expect(configuration["password"] == "hunter2")
    }
}
