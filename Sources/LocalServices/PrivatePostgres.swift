internal import Glibc
internal import Synchronization

/// A PostgreSQL server of this process's own, in a temporary folder, reached through a Unix socket inside it.
///
/// For the demo, the tests and the benchmarks: it starts in about a second, takes no port, and only the owner of
/// the folder can reach it. It does not wait for the disk (`fsync=off`), so it is never for data that matters. PostgreSQL
/// refuses to run as root; started by root it runs as Debian's account `postgres`.
package final class PrivatePostgres: Sendable {
    private let folder: TemporaryFolder
    private let programs: String
    private let account: Account?
    private let server = Mutex<ChildProcess?>(nil)
    private let settings: [String]

    /// Creates the cluster and starts it.
    ///
    /// - Parameter settings: extra `name=value` server settings.
    /// - Throws: ``LocalServicesError`` when PostgreSQL is not installed or does not start.
    package init(settings: [String] = []) throws(LocalServicesError) {
        programs = try PrivatePostgres.findPrograms()
        folder = try TemporaryFolder(prefix: "posthorn-pg")
        account = getuid() == 0 ? Account(named: "postgres") : nil
        self.settings = settings
        if getuid() == 0 {
            guard let account else {
                throw .missingProgram(
                    name: "the account 'postgres'",
                    hint: "install Debian's package postgresql"
                )
            }
            try folder.give(to: account)
        }
        try initialise()
        try start()
    }

    deinit { stop() }

    /// The server's superuser on `database`, for libpq.
    package func url(database: String = "postgres") -> String {
        "postgresql://postgres@/\(database)?host=\(folder.path)"
    }

    /// The folder that holds the socket; its file is named for port 5432.
    package var socketFolder: String { folder.path }

    package var pid: Int32? { server.withLock { $0?.pid } }

    /// Makes an empty database.
    package func createDatabase(_ name: String, template: String = "template1") throws(LocalServicesError) {
        try psql("CREATE DATABASE \(name) TEMPLATE \(template)")
    }

    /// Ends the server as a shutdown for maintenance would (`fast`), or as a power cut (`SIGKILL` to the postmaster).
    package func stop(abruptly: Bool = false) {
        let child = server.withLock { server in
            defer { server = nil }
            return server
        }
        _ = child?.stop(abruptly ? SIGQUIT : SIGINT)
    }

    /// Starts a stopped server again with the data that it holds.
    package func start() throws(LocalServicesError) {
        let log = "\(folder.path)/log"
        var command = ChildProcess.Command("\(programs)/postgres", ["-D", "\(folder.path)/data"] + options())
        command.account = account
        command.output = .file(log)
        command.environment = ["LC_ALL": "C.UTF-8", "PGDATA": nil]
        command.deathSignal = .interrupt
        let child = try ChildProcess(command)
        server.withLock { $0 = child }
        let deadline = ContinuousClock.now + .seconds(60)
        while !isReady() {
            guard child.isRunning && ContinuousClock.now < deadline else {
                throw .notReady(service: "PostgreSQL", log: Files.tail(log))
            }
            _ = child.wait(upTo: .milliseconds(20))
        }
    }

    /// Runs one statement as superuser with `psql`.
    package func psql(_ statement: String, database: String = "postgres") throws(LocalServicesError) {
        let log = "\(folder.path)/psql.log"
        var command = ChildProcess.Command(
            "\(programs)/psql",
            [
                "--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1", "-d", url(database: database), "-c",
                statement,
            ]
        )
        command.output = .file(log)
        let status = try ChildProcess.run(command)
        guard status == .exited(0) else { throw .notReady(service: "psql", log: Files.tail(log)) }
    }

    private func options() -> [String] {
        let fixed = [
            "listen_addresses=", "unix_socket_directories=\(folder.path)", "unix_socket_permissions=0700",
            "port=5432",
            "fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=256MB",
            "log_min_messages=warning", "logging_collector=off", "max_wal_size=4GB",
        ]
        return (fixed + settings).flatMap { ["-c", $0] }
    }

    private func initialise() throws(LocalServicesError) {
        var command = ChildProcess.Command(
            "\(programs)/initdb",
            [
                "-D", "\(folder.path)/data", "--username=postgres", "--auth=trust", "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-sync", "--no-instructions",
            ]
        )
        command.account = account
        command.output = .file("\(folder.path)/initdb.log")
        let status = try ChildProcess.run(command)
        guard status == .exited(0) else {
            throw .notReady(service: "initdb", log: Files.tail("\(folder.path)/initdb.log"))
        }
    }

    /// The eighth line of the server's lock file says `ready` once it takes connections.
    private func isReady() -> Bool {
        guard let lines = Files.read("\(folder.path)/data/postmaster.pid") else { return false }
        return String(decoding: lines, as: UTF8.self).split(separator: "\n").last?.hasPrefix("ready") ?? false
    }

    /// The newest of Debian's installed versions, 15 or later; `POSTHORN_POSTGRES_BIN` names another folder.
    private static func findPrograms() throws(LocalServicesError) -> String {
        if let named = unsafe getenv("POSTHORN_POSTGRES_BIN") {
            let folder = unsafe String(cString: named)
            guard Files.exists("\(folder)/postgres") else {
                throw .missingProgram(
                    name: "\(folder)/postgres",
                    hint:
                        "POSTHORN_POSTGRES_BIN names no folder with PostgreSQL's programs; Debian's package is postgresql"
                )
            }
            return folder
        }
        let versions = Files.names(in: "/usr/lib/postgresql").compactMap { Int($0) }.filter { $0 >= 15 }
            .sorted()
        guard let newest = versions.last(where: { Files.exists("/usr/lib/postgresql/\($0)/bin/postgres") })
        else {
            throw .missingProgram(
                name: "PostgreSQL 15 or later",
                hint: "install Debian's package postgresql, or name its bin folder in POSTHORN_POSTGRES_BIN"
            )
        }
        return "/usr/lib/postgresql/\(newest)/bin"
    }
}
