internal import Postgres

/// Lets one registration at a time change the pushers of a device, across all users.
///
/// Two users who register the same device at once see nothing of each other's row, which nobody could lock before it exists: both would stay.
/// So whoever registers takes an advisory lock first. The locks are few, each for all devices of one bucket, because a batch
/// takes hundreds and the server's lock table is small (6,400 places by default); they are taken in rising order, so nobody waits in a
/// circle, and given back with the transaction, which a PgBouncer in transaction mode bears.
enum DeviceLocks {
    /// Changing it while an older version runs would let the two pass each other.
    static let count = 1024

    /// The first half of the locks' two-part keys; "push" in ASCII.
    private static let space: Int32 = 0x7075_7368

    /// Takes the locks of these buckets, in the current transaction.
    static func take(_ buckets: Set<Int32>, on connection: inout Connection) throws(PostgresError) {
        var sorted = ArrayParameter(of: .int4)
        for bucket in buckets.sorted() { sorted.append(int4: bucket) }
        // The rows come in the array's order, and a volatile function is called once a row.
        try connection.execute(
            "SELECT pg_advisory_xact_lock($1, bucket) FROM unnest($2) AS bucket",
            [.int4(space), .array(sorted)],
            timeout: .seconds(120)
        )
    }
}
