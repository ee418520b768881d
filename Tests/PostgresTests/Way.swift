internal import LocalServices
internal import Postgres
internal import Support
internal import Testing

/// How a test reaches its server: every rule holds on both.
enum Way: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case direct
    /// Through a PgBouncer in transaction mode.
    case bouncer

    private static let database = Result { try PostgresService.freshDatabase() }
    private static let pooler = Result { try PrivateBouncer(in: PostgresService.shared().socketFolder) }

    var testDescription: String { rawValue }

    /// The one database that this target's tests share; they keep apart by names of their own.
    func configuration() throws -> Configuration {
        var configuration = try Configuration(Self.database.get())
        if self == .bouncer {
            let bouncer = try Self.pooler.get()
            configuration["host"] = bouncer.socketFolder
            configuration["port"] = "\(PrivateBouncer.port)"
        }
        configuration.connectTimeout = .seconds(30)
        configuration.cancelGrace = .seconds(20)
        return configuration
    }

    func connect() throws -> Connection { try Connection(connectingTo: configuration()) }

    /// Makes a table with these columns and gives back its name.
    func table(_ columns: String) throws -> String {
        let name = uniqueName("t").replacing("-", with: "_")
        var connection = try connect()
        try connection.execute("CREATE TABLE \(name) (\(columns))")
        return name
    }
}

/// A PgBouncer of the test run's own, in transaction mode, in front of the servers whose socket is in a folder.
final class PrivateBouncer: Sendable {
    /// Names the socket; no TCP port is taken.
    static let port = 6432
    private let folder: TemporaryFolder
    private let process: ChildProcess

    var socketFolder: String { folder.path }

    init(in serverFolder: String) throws {
        folder = try TemporaryFolder(prefix: "posthorn-bouncer")
        let settings = """
            [databases]
            * = host=\(serverFolder) port=5432 user=postgres
            [pgbouncer]
            unix_socket_dir = \(folder.path)
            unix_socket_mode = 0700
            listen_port = \(Self.port)
            auth_type = any
            pool_mode = transaction
            default_pool_size = 10
            server_login_retry = 0
            """
        try Files.write(settings, to: "\(folder.path)/pgbouncer.ini", mode: 0o644)
        var command = ChildProcess.Command("/usr/sbin/pgbouncer", ["\(folder.path)/pgbouncer.ini"])
        command.output = .file("\(folder.path)/log")
        command.account = Account(named: "postgres")
        if let account = command.account { try folder.give(to: account) }
        process = try ChildProcess(command)
        let configuration = try Configuration(
            "postgresql://postgres@/postgres?host=\(folder.path)&port=\(Self.port)"
        )
        try eventually("PgBouncer answers") { (try? Connection(connectingTo: configuration)) != nil }
    }

    deinit { process.stop() }
}

/// What `body` throws, as a ``PostgresError``; nil if it throws nothing.
func failure(_ body: () throws(PostgresError) -> Void) -> PostgresError? {
    do throws(PostgresError) {
        try body()
        return nil
    } catch {
        return error
    }
}
