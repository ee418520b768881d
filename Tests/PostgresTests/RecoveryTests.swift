internal import LocalServices
internal import Postgres
internal import Support
internal import Synchronization
internal import Testing

struct `Lost sessions` {
    @Test(arguments: Way.allCases, [false, true])
    func `a terminated session is an error, then a new one works`(way: Way, named: Bool) throws {
        var configuration = try way.configuration()
        // PgBouncer 1.18 is where names must not be used.
        configuration.usesNamedStatements = named && way == .direct
        var connection = try Connection(connectingTo: configuration)
        var killer = try Way.direct.connect()
        for round in 0..<5 as Range<Int32> {
            let rows = try connection.query("SELECT $1, pg_backend_pid()", [.int4(round)])
            #expect(try rows.int4(0, 0) == round)
            let victim = try rows.int4(0, 1)
            try killer.execute("SELECT pg_terminate_backend($1, 10000)", [.int4(victim)])
            let error = failure { () throws(PostgresError) in
                _ = try connection.query("SELECT $1, pg_backend_pid()", [.int4(round)])
            }
            // PgBouncer may have replaced the session unseen.
            if way == .direct || error != nil { #expect(error?.kind == .connectionLost) }
            try connection.ensureConnected(within: .seconds(30))
        }
    }

    @Test(arguments: Way.allCases)
    func `a session terminated while idle is noticed without asking`(way: Way) throws {
        var connection = try way.connect()
        var killer = try Way.direct.connect()
        let rows = try connection.query("SELECT pg_backend_pid()")
        let victim = try rows.int4(0, 0)
        try killer.execute("SELECT pg_terminate_backend($1, 10000)", [.int4(victim)])
        try connection.ensureConnected(within: .seconds(30))
        if way == .direct { try connection.execute("SELECT 1") }
    }

    @Test(arguments: Way.allCases)
    func `a session terminated inside a transaction does not continue elsewhere`(way: Way) throws {
        let table = try way.table("id int4")
        var connection = try way.connect()
        var killer = try Way.direct.connect()
        let error = failure { () throws(PostgresError) in
            try connection.transaction { (connection: inout Connection) throws(PostgresError) -> Void in
                try connection.execute("INSERT INTO \(table) VALUES (1)")
                let victim = try connection.query("SELECT pg_backend_pid()").int4(0, 0)
                try killer.execute("SELECT pg_terminate_backend($1, 10000)", [.int4(victim)])
                try connection.execute("INSERT INTO \(table) VALUES (2)")
            }
        }
        #expect(error?.kind == .connectionLost)
        try connection.ensureConnected(within: .seconds(30))
        let rows = try connection.query("SELECT count(*) FROM \(table)")
        #expect(try rows.int8(0, 0) == 0)
    }

    @Test func `a server that dies in the middle and comes back is found again`() throws {
        let server = try PrivatePostgres()
        var configuration = try Configuration(server.url())
        configuration.connectTimeout = .seconds(30)
        let url = configuration
        let ready = Atomic(false)
        let sleeper = Background { () -> PostgresError? in
            failure { () throws(PostgresError) in
                var connection = try Connection(connectingTo: url)
                ready.store(true, ordering: .releasing)
                try connection.execute("SELECT pg_sleep(100)", timeout: .seconds(100))
            }
        }
        var connection = try Connection(connectingTo: configuration)
        try eventually("the statement runs") { ready.load(ordering: .acquiring) }
        server.stop(abruptly: true)
        #expect(try sleeper.value()?.kind == .connectionLost)
        #expect(
            failure { () throws(PostgresError) in try connection.execute("SELECT 1") }?.kind
                == .connectionLost
        )
        let away = failure { () throws(PostgresError) in
            try connection.ensureConnected(within: .milliseconds(500))
        }
        #expect(away?.kind == .connectionLost)

        let restart = Background { () -> Bool in (try? server.start()) != nil }
        try connection.ensureConnected(within: .seconds(60))
        try connection.execute("SELECT 1")
        #expect(try restart.value())
    }
}

struct `Named statements` {
    private func connect(limit: Int = 100) throws -> Connection {
        var configuration = try Way.direct.configuration()
        configuration.usesNamedStatements = true
        configuration.namedStatementLimit = limit
        return try Connection(connectingTo: configuration)
    }

    @Test func `a statement is prepared once for a text and its types`() throws {
        var connection = try connect()
        for number in 0..<3 as Range<Int32> {
            let rows = try connection.query("SELECT $1", [.int4(number)])
            #expect(try rows.int4(0, 0) == number)
        }
        let other = try connection.query("SELECT $1", [.text("x")])
        #expect(try other.text(0, 0) == "x")
        let prepared = try connection.query(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1'"
        )
        #expect(try prepared.int8(0, 0) == 2)
    }

    @Test func `beyond the limit statements go unnamed`() throws {
        var connection = try connect(limit: 2)
        for number in 0..<5 { try connection.execute("SELECT \(number)") }
        var configuration = try Way.direct.configuration()
        configuration.usesNamedStatements = false
        let rows = try connection.query("SELECT count(*) FROM pg_prepared_statements")
        #expect(try rows.int8(0, 0) == 2)
    }

    @Test func `names lost or outdated at the server are made again`() throws {
        let table = try Way.direct.table("id int4")
        var connection = try connect()
        let sql = "SELECT * FROM \(table)"
        try connection.execute(sql)
        try connection.executeScript("DEALLOCATE ALL")
        try connection.execute(sql)
        try connection.execute(sql)
        try connection.executeScript("ALTER TABLE \(table) ADD COLUMN word text")
        let rows = try connection.query(sql)
        #expect(rows.columnCount == 2)
        try connection.execute(sql)
    }
}
