internal import Postgres
internal import Support
internal import Synchronization
internal import Testing

struct Transactions {
    @Test(arguments: Way.allCases)
    func `all or nothing`(way: Way) throws {
        let table = try way.table("id int4 PRIMARY KEY")
        var connection = try way.connect()
        let value = try connection.transaction { (connection: inout Connection) throws(PostgresError) in
            try connection.execute("INSERT INTO \(table) VALUES (1)")
            return 7
        }
        #expect(value == 7)
        let error = failure { () throws(PostgresError) in
            try connection.transaction { (connection: inout Connection) throws(PostgresError) -> Void in
                try connection.execute("INSERT INTO \(table) VALUES (2)")
                try connection.execute("INSERT INTO \(table) VALUES (1)")
            }
        }
        #expect(error?.sqlState == "23505")
        let rows = try connection.query("SELECT count(*) FROM \(table)")
        #expect(try rows.int8(0, 0) == 1)
    }

    @Test func `a failure that the closure hides is no commit`() throws {
        let table = try Way.direct.table("id int4 PRIMARY KEY")
        var connection = try Way.direct.connect()
        let error = failure { () throws(PostgresError) in
            try connection.transaction { (connection: inout Connection) throws(PostgresError) -> Void in
                try connection.execute("INSERT INTO \(table) VALUES (1)")
                _ = try? connection.execute("SELECT 1/0")
            }
        }
        #expect(error?.kind == .rolledBack)
        let rows = try connection.query("SELECT count(*) FROM \(table)")
        #expect(try rows.int8(0, 0) == 0)
    }

    @Test func `a transaction does not nest and does not move to another session`() throws {
        var connection = try Way.direct.connect()
        try connection.transaction { (connection: inout Connection) throws(PostgresError) -> Void in
            let nested = failure { () throws(PostgresError) in
                try connection.transaction { (_: inout Connection) throws(PostgresError) in }
            }
            #expect(nested?.kind == .usage)
        }
        let moved = failure { () throws(PostgresError) in
            try connection.transaction { (connection: inout Connection) throws(PostgresError) -> Void in
                connection.disconnect()
                try connection.ensureConnected(within: .seconds(5))
            }
        }
        #expect(moved?.kind == .usage)
        try connection.ensureConnected(within: .seconds(30))
        try connection.transaction { (connection: inout Connection) throws(PostgresError) -> Void in
            try connection.execute("SELECT 1")
        }
    }

    @Test(arguments: Way.allCases)
    func `a deadlock's victim tries again`(way: Way) throws {
        let table = try way.table("id int4 PRIMARY KEY, n int4")
        var connection = try way.connect()
        try connection.execute("INSERT INTO \(table) VALUES (1, 0), (2, 0)")
        let meeting = Meeting()
        let other = Background { Self.update(way, table, [2, 1], meeting) }
        let mine = Self.update(way, table, [1, 2], meeting)
        let theirs = try other.value()
        #expect(mine == nil && theirs == nil)
        #expect(meeting.rounds.load(ordering: .relaxed) > 2)
        let rows = try connection.query("SELECT n FROM \(table) ORDER BY id")
        #expect(try rows.int4(0, 0) == 2)
        #expect(try rows.int4(1, 0) == 2)
    }

    /// How many of the two transactions have their first lock, and how often one began.
    private final class Meeting: Sendable {
        let arrived = Atomic(0)
        let rounds = Atomic(0)
    }

    private static func update(_ way: Way, _ table: String, _ order: [Int32], _ meeting: Meeting) -> String? {
        do {
            var connection = try way.connect()
            try connection.transaction(attempts: 5) {
                (connection: inout Connection) throws(PostgresError) -> Void in
                meeting.rounds.add(1, ordering: .relaxed)
                try connection.execute("UPDATE \(table) SET n = n + 1 WHERE id = $1", [.int4(order[0])])
                meeting.arrived.add(1, ordering: .relaxed)
                try? eventually("both hold a lock") { meeting.arrived.load(ordering: .relaxed) >= 2 }
                try connection.execute("UPDATE \(table) SET n = n + 1 WHERE id = $1", [.int4(order[1])])
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: Way.allCases)
    func `a serialization failure is retried as often as allowed`(way: Way) throws {
        let table = try way.table("id int4 PRIMARY KEY, n int4")
        var connection = try way.connect()
        var rival = try way.connect()
        try connection.execute("INSERT INTO \(table) VALUES (1, 0)")
        var tries = 0
        let attempt = {
            (connection: inout Connection, rival: inout Connection) throws(PostgresError) -> Void in
            tries += 1
            _ = try connection.query("SELECT n FROM \(table)")
            try rival.execute("UPDATE \(table) SET n = n + 1")
            try connection.execute("UPDATE \(table) SET n = n + 100")
        }
        let error = failure { () throws(PostgresError) in
            try connection.transaction(.repeatableRead, attempts: 3) {
                (connection: inout Connection) throws(PostgresError) -> Void in
                try attempt(&connection, &rival)
            }
        }
        #expect(error?.kind == .serialization)
        #expect(tries == 3)
        #expect(connection.isInTransaction == false)
    }
}

struct Pipelines {
    @Test(arguments: Way.allCases)
    func `statements in one round trip give their rows in order`(way: Way) throws {
        let table = try way.table("id int4 PRIMARY KEY, word text")
        var connection = try way.connect()
        var pipeline = Pipeline()
        pipeline.append("INSERT INTO \(table) VALUES ($1, $2)", [.int4(1), .text("one")])
        pipeline.append("INSERT INTO \(table) VALUES ($1, $2) RETURNING id", [.int4(2), .text(nil)])
        pipeline.append("SELECT word FROM \(table) ORDER BY id")
        var results = try connection.run(pipeline)
        #expect(results.count == 3)
        let inserted = try results.take(0)
        #expect(inserted.affected == 1)
        let returned = try results.take(1)
        #expect(try returned.int4(0, 0) == 2)
        let selected = try results.take(2)
        #expect(try selected.text(0, 0) == "one")
        #expect(try selected.textIfPresent(1, 0) == nil)
        #expect(failure { () throws(PostgresError) in _ = try results.take(2) }?.kind == .usage)
        #expect(failure { () throws(PostgresError) in _ = try results.take(3) }?.kind == .usage)
        #expect(connection.isInTransaction == false)
    }

    @Test(arguments: Way.allCases, [true, false])
    func `one bad statement undoes all, and the session goes on`(way: Way, transaction: Bool) throws {
        let table = try way.table("id int4 PRIMARY KEY")
        var connection = try way.connect()
        var pipeline = Pipeline(transaction: transaction)
        pipeline.append("INSERT INTO \(table) VALUES (1)")
        pipeline.append("INSERT INTO \(table) VALUES (1)")
        pipeline.append("INSERT INTO \(table) VALUES (2)")
        let error = failure { () throws(PostgresError) in _ = try connection.run(pipeline) }
        #expect(error?.kind == .constraint(name: "\(table)_pkey"))
        #expect(error?.pipelineStatement == 1)
        #expect(connection.isInTransaction == false)
        let rows = try connection.query("SELECT count(*) FROM \(table)")
        #expect(try rows.int8(0, 0) == 0)
    }

    @Test(arguments: Way.allCases)
    func `a deferred constraint fails the commit`(way: Way) throws {
        let table = try way.table(
            "id int4, CONSTRAINT \(uniqueName("u").replacing("-", with: "_")) UNIQUE (id) DEFERRABLE INITIALLY DEFERRED"
        )
        var connection = try way.connect()
        for transaction in [true, false] {
            var pipeline = Pipeline(transaction: transaction)
            pipeline.append("INSERT INTO \(table) VALUES (1)")
            pipeline.append("INSERT INTO \(table) VALUES (1)")
            let error = failure { () throws(PostgresError) in _ = try connection.run(pipeline) }
            #expect(error?.sqlState == "23505")
            try connection.ensureConnected(within: .seconds(30))
            let rows = try connection.query("SELECT count(*) FROM \(table)")
            #expect(try rows.int8(0, 0) == 0)
        }
    }

    @Test(arguments: Way.allCases)
    func `more than the sockets hold goes both ways at once`(way: Way) throws {
        var connection = try way.connect()
        let block = [UInt8](repeating: 42, count: 300_000)
        var pipeline = Pipeline(transaction: false)
        for _ in 0..<60 { pipeline.append("SELECT $1", [.bytea(block)]) }
        var results = try connection.run(pipeline, timeout: .seconds(120))
        let last = try results.take(59)
        #expect(try last.bytea(0, 0) == block)
    }

    @Test func `an empty pipeline is none`() throws {
        var connection = try Way.direct.connect()
        let results = try connection.run(Pipeline())
        #expect(results.count == 0)
    }
}
