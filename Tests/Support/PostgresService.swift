package import LocalServices
internal import Synchronization

/// The real PostgreSQL of a test run: one server for all tests of the process, a database for each test.
package enum PostgresService {
    private static let running = Mutex<PrivatePostgres?>(nil)

    package static func shared() throws -> PrivatePostgres {
        try running.withLock { running in
            if let running { return running }
            let server = try PrivatePostgres()
            running = server
            return server
        }
    }

    /// The URL of a new, empty database on the shared server.
    package static func freshDatabase() throws -> String {
        let name = uniqueName("test").replacing("-", with: "_")
        let server = try shared()
        try server.createDatabase(name)
        return server.url(database: name)
    }
}
