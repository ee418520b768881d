internal import Glibc
internal import LocalServices
internal import Postgres
internal import Support
internal import Synchronization
internal import Testing

struct `Limits of time` {
    @Test(arguments: Way.allCases)
    func `a statement that takes too long is cancelled and the session stays`(way: Way) throws {
        var connection = try way.connect()
        for _ in 0..<3 {
            let error = failure { () throws(PostgresError) in
                try connection.execute("SELECT pg_sleep(100)", timeout: .milliseconds(200))
            }
            #expect(error?.kind == .timeout)
            #expect(error?.isRetriable == true)
            #expect(connection.isConnected == true)
            try connection.execute("SELECT 1")
        }
    }

    @Test(arguments: Way.allCases)
    func `a pipeline and a transaction have limits too`(way: Way) throws {
        var connection = try way.connect()
        var pipeline = Pipeline()
        pipeline.append("SELECT 1")
        pipeline.append("SELECT pg_sleep(100)")
        pipeline.append("SELECT 2")
        let piped = failure { () throws(PostgresError) in
            _ = try connection.run(pipeline, timeout: .milliseconds(200))
        }
        #expect(piped?.kind == .timeout)
        #expect(piped?.pipelineStatement == 1)
        let inside = failure { () throws(PostgresError) in
            try connection.transaction { (connection: inout Connection) throws(PostgresError) -> Void in
                try connection.execute("SELECT pg_sleep(100)", timeout: .milliseconds(200))
            }
        }
        #expect(inside?.kind == .timeout)
        #expect(connection.isInTransaction == false)
        try connection.execute("SELECT 1")
    }

    @Test func `a server that does not answer at all loses the session in bounded time`() throws {
        var configuration = try Way.direct.configuration()
        configuration.cancelGrace = .milliseconds(300)
        var connection = try Connection(connectingTo: configuration)
        let backend = connection.processID
        kill(backend, SIGSTOP)
        defer { kill(backend, SIGCONT) }
        let error = failure { () throws(PostgresError) in
            try connection.execute("SELECT 1", timeout: .milliseconds(200))
        }
        #expect(error?.kind == .timeout)
        #expect(connection.isConnected == false)
        try connection.ensureConnected(within: .seconds(30))
        try connection.execute("SELECT 1")
    }

    @Test(arguments: Way.allCases)
    func `a COPY that stalls ends`(way: Way) throws {
        let table = try way.table("data bytea")
        var holder = try way.connect()
        try holder.executeScript("BEGIN; LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
        var connection = try way.connect()
        let error = failure { () throws(PostgresError) in
            try connection.copyIn(
                "COPY \(table) FROM STDIN (FORMAT binary)",
                stallTimeout: .milliseconds(300)
            ) {
                (writer: inout CopyWriter) throws(PostgresError) in
                for _ in 0..<1000 {
                    writer.append(bytea: [UInt8](repeating: 0, count: 60_000))
                    try writer.endRow()
                }
            }
        }
        #expect(error?.kind == .timeout)
        try holder.executeScript("ROLLBACK")
        try connection.ensureConnected(within: .seconds(30))
        try connection.execute("SELECT 1")
    }

    @Test(arguments: Way.allCases)
    func `another thread cancels`(way: Way) throws {
        let canceller = Mutex<Canceller?>(nil)
        let mark = uniqueName("mark")
        let sleeper = Background { () -> PostgresError? in
            failure { () throws(PostgresError) in
                guard var connection = try? way.connect() else { return }
                let handle = connection.canceller()
                canceller.withLock { $0 = handle }
                try connection.execute("SELECT pg_sleep(100) /* \(mark) */", timeout: .seconds(100))
            }
        }
        try Self.awaitActive(mark)
        let handle = canceller.withLock { $0 }
        #expect(handle?.cancel() == true)
        #expect(handle?.cancel() == false)
        #expect(try sleeper.value()?.kind == .cancelled)
    }

    @Test(arguments: Way.allCases)
    func `a stop descriptor ends a wait`(way: Way) throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let (stop, signal) = (ends[0], ends[1])
        defer {
            close(stop)
            close(signal)
        }
        let mark = uniqueName("mark")
        let sleeper = Background { () -> [PostgresError?] in
            guard var connection = try? way.connect() else { return [] }
            connection.interrupt = stop
            let first = failure { () throws(PostgresError) in
                try connection.execute("SELECT pg_sleep(100) /* \(mark) */", timeout: .seconds(100))
            }
            let second = failure { () throws(PostgresError) in try connection.execute("SELECT pg_sleep(100)")
            }
            connection.interrupt = nil
            return [
                first, second, failure { () throws(PostgresError) in try connection.execute("SELECT 1") },
            ]
        }
        try Self.awaitActive(mark)
        var byte: UInt8 = 1
        #expect(unsafe write(signal, &byte, 1) == 1)
        let errors = try sleeper.value()
        #expect(errors.map { $0?.kind } == [.interrupted, .interrupted, nil])
    }

    @Test func `a stop descriptor ends the pauses of reconnecting`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[0]) }
        close(ends[1])
        var connection = Connection(try Configuration("host=/nonexistent user=nobody"))
        connection.interrupt = ends[0]
        let error = failure { () throws(PostgresError) in
            try connection.ensureConnected(within: .seconds(600))
        }
        #expect(error?.kind == .interrupted)
    }

    /// Waits until a statement with `mark` in its text runs.
    private static func awaitActive(_ mark: String) throws {
        var observer = try Way.direct.connect()
        try eventually("a statement with \(mark) runs") {
            let rows = try observer.query(
                "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'PgSleep' AND query LIKE $1",
                [.text("%\(mark)%")]
            )
            return rows.count == 1
        }
    }
}
