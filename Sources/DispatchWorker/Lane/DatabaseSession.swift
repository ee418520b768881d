internal import Lanes
internal import Postgres

/// The lane's database connection, which may be away without holding up the lane.
///
/// Everything in the lane waits while a statement runs. So after a failure the database is left alone for ten times as long as the failure
/// took, from one second to half a minute: at worst a tenth of the time is lost to a database that does not answer.
struct DatabaseSession: ~Copyable {
    private var connection: Connection
    private var nextAttempt: Int64 = 0
    /// Why it was away last; nil while it is there.
    private(set) var trouble: PostgresError?

    init(_ configuration: Postgres.Configuration) {
        connection = Connection(configuration)
    }

    /// Whether ``run(_:)`` would do anything; false during the pause after a failure.
    var isWorthTrying: Bool { trouble == nil || Monotonic.now() >= nextAttempt }

    /// Runs one thing, with a new session if need be.
    ///
    /// - Throws: what went wrong; during the pause after a failure that failure again, at once.
    mutating func run<R: ~Copyable, Failure: PostgresFailure>(
        _ body: (inout Connection) throws(Failure) -> R
    ) throws(Failure) -> R {
        let start = Monotonic.now()
        if let trouble, start < nextAttempt { throw Failure(trouble) }
        do throws(Failure) {
            if let trouble = connect() { throw Failure(trouble) }
            let result = try body(&connection)
            trouble = nil
            return result
        } catch {
            let end = Monotonic.now()
            nextAttempt = end + min(max(10 * (end - start), 1_000_000_000), 30_000_000_000)
            trouble = error.postgresError ?? PostgresError(.other, "what was read makes no sense")
            throw error
        }
    }

    /// - Returns: why there is no session; nil if there is one.
    private mutating func connect() -> PostgresError? {
        guard !connection.isConnected else { return nil }
        do throws(PostgresError) {
            try connection.connect()
            return nil
        } catch {
            return error
        }
    }
}
