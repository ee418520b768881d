package import Postgres
package import Push
package import Sealing

/// Registers pushers line by line, in batches.
///
/// ```
///   line ──form, gateway, channels──▶ batch ──2,000 lines──▶ one transaction
///     └──▶ RegistrationError, for the caller to report
/// ```
///
/// Every batch is committed by itself: what is in stays in, whatever comes after, and the same file may simply be imported again. After an
/// error of the database's the batch's lines are kept and written by the next ``flush(to:)``. One thread's own.
package struct PusherImport: ~Copyable {
    /// Lines in one transaction: at several thousand the round trips are not seen any more, and a lock is held for some tens of milliseconds.
    package static let batchLimit = 2000

    /// What lines are checked against.
    package private(set) var check: RegistrationCheck
    /// What was committed so far.
    package private(set) var tally = ImportTally()
    private var batch = RegistrationBatch()
    private var writer: RegistrationWriter

    /// - Parameters:
    ///   - check: what lines are checked against.
    ///   - keys: the key-encryption keys; new chains are sealed under the active one.
    /// - Throws: ``SealingError`` when the library has not what is needed.
    package init(check: RegistrationCheck, keys: consuming KeyRing) throws(SealingError) {
        writer = try RegistrationWriter(keys: keys)
        self.check = check
    }

    /// Whether it is time to ``flush(to:)``.
    package var isFull: Bool { batch.count >= Self.batchLimit }

    /// How many lines wait to be written.
    package var waiting: Int { batch.count }

    /// Checks a line and keeps it for the next ``flush(to:)``.
    ///
    /// - Throws: what is wrong with it, by field; nothing of it is kept then.
    package mutating func append(_ line: [UInt8]) throws(RegistrationError) {
        batch.append(try check.read(line))
    }

    /// Writes what waits; a session that was lost is made anew, for half a minute.
    ///
    /// Writing a batch again that was committed without our hearing of it changes nothing but the registration times.
    ///
    /// - Throws: ``RegistrarError``; it is all still waiting.
    package mutating func flush(to connection: inout Connection) throws(RegistrarError) {
        var attempts = 3
        while true {
            do throws(RegistrarError) {
                tally += try writer.write(batch, to: &connection)
                batch.removeAll()
                return
            } catch {
                attempts -= 1
                guard error.isRetriable, attempts > 0 else { throw error }
                try database { () throws(PostgresError) -> Void in
                    try connection.ensureConnected(within: .seconds(30))
                }
            }
        }
    }
}
