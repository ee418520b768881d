internal import KeyChains
internal import Postgres
internal import Push
internal import Sealing

/// Writes registrations: the first generation of each key chain is derived and sealed, and all of a batch goes in as one transaction.
///
/// ```
///   advisory locks of the devices ─▶ their rows, locked in the order of the key ─▶ delete who leaves ─▶ seal ─▶ upsert
/// ```
///
/// The initial secrets are gone from memory with the batch. One thread's own.
struct RegistrationWriter: ~Copyable {
    private var deriver: ChainDeriver
    private var chains: ChainSeal
    private var random = RandomSource()
    private var sealed: [UInt8] = []
    private var drawn: [UInt8] = []

    init(keys: consuming KeyRing) throws(SealingError) {
        let chains = try ChainSeal(ring: keys)
        let deriver = try ChainDeriver()
        self.chains = chains
        self.deriver = deriver
    }

    /// Writes a batch.
    ///
    /// - Returns: what it came to; equal to writing its registrations one after the other.
    /// - Throws: ``RegistrarError``, and nothing is written. What others did at the same time is borne by trying again.
    mutating func write(
        _ batch: RegistrationBatch,
        to connection: inout Connection
    ) throws(RegistrarError) -> ImportTally {
        guard !batch.devices.isEmpty else { return ImportTally() }
        return try connection.transaction(attempts: 5) {
            (connection: inout Connection) throws(RegistrarError) in
            let existing = try database { () throws(PostgresError) in
                // By the tables' statistics alone, a batch of thousands may look worth a scan of all pushers.
                try connection.executeScript(
                    "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
                )
                try DeviceLocks.take(Set(batch.devices.map(\.bucket)), on: &connection)
                return try ExistingPushers(of: batch.devices, on: &connection)
            }
            let leaving = existing.leaving(batch.devices)
            try Self.delete(leaving.displaced + leaving.removed, on: &connection)
            let rows = try rows(of: batch, existing)
            let written = try database { () throws(PostgresError) in try rows.all.write(to: &connection) }
            guard written == rows.all.count else { throw .conflict }
            try database { () throws(PostgresError) -> Void in
                try OpenRejections.forget(rows.renewed, on: &connection)
                try ChannelRestoration.restore(rows.unset, on: &connection)
            }
            return ImportTally(
                written: written,
                removed: leaving.removed.count,
                displaced: leaving.displaced.count
            )
        }
    }

    /// What a batch writes.
    private struct Written {
        var all = PusherRows()
        /// Those that were there: what was said against the registration before does not count against this one.
        var renewed: [(user: [UInt8], pusher: PusherID)] = []
        /// New ones that bring no channel settings.
        var unset: [(user: String, pusher: PusherID)] = []
    }

    private mutating func rows(
        of batch: RegistrationBatch,
        _ existing: ExistingPushers
    ) throws(RegistrarError) -> Written {
        var rows = Written()
        do throws(SealingError) {
            for (place, device) in batch.devices.enumerated() {
                for case let (user, registration?) in device.changes {
                    let known = existing.pusher(of: user, device: place)
                    let pusher = if let known { known } else { try newPusher() }
                    let chain = try seal(registration.pusher.keys, of: pusher)
                    rows.all.append(registration, pusher, chain, sealed: sealed)
                    if known != nil {
                        rows.renewed.append((Array(user.utf8), pusher))
                    } else if registration.channels.isEmpty {
                        rows.unset.append((user, pusher))
                    }
                }
            }
        } catch {
            throw .sealing(error)
        }
        return rows
    }

    /// Derives the first generation and leaves it, sealed, in ``sealed``.
    private mutating func seal(
        _ keys: RegisteredKeys?,
        of pusher: PusherID
    ) throws(SealingError) -> PusherRows.Chain? {
        guard let keys else { return nil }
        let generation: KeyGeneration
        do throws(KeyChainError) {
            generation = try KeyGeneration(
                initialSecret: keys.initialSecret,
                month: keys.month,
                using: &deriver
            )
        } catch {
            throw .library(operation: "derive a key", reason: "\(error)")
        }
        sealed.removeAll(keepingCapacity: true)
        try Self.seal(generation, ChainBinding(pusher, keys.month), &chains, &random, &sealed)
        return PusherRows.Chain(
            keyIdentifier: keys.identifier,
            month: keys.month,
            keyID: chains.activeID
        )
    }

    private static func seal(
        _ generation: borrowing KeyGeneration,
        _ binding: ChainBinding,
        _ chains: inout ChainSeal,
        _ random: inout RandomSource,
        _ output: inout [UInt8]
    ) throws(SealingError) {
        try generation.withMaterial { material throws(SealingError) in
            try chains.seal(material, bound: binding, random: &random, into: &output)
        }
    }

    /// A random id, in the form of UUID version 4.
    private mutating func newPusher() throws(SealingError) -> PusherID {
        drawn.removeAll(keepingCapacity: true)
        try random.append(16, to: &drawn)
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<8 {
            high = high << 8 | UInt64(drawn[index])
            low = low << 8 | UInt64(drawn[index + 8])
        }
        // Source: RFC 9562 §5.4.
        return PusherID(
            UUIDBytes(
                high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
                low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
            )
        )
    }

    private static func delete(
        _ leaving: [ExistingPushers.Row],
        on connection: inout Connection
    ) throws(RegistrarError) {
        guard !leaving.isEmpty else { return }
        var users = ArrayParameter(of: .text)
        var pushers = ArrayParameter(of: .uuid)
        var bytes: [UInt8] = []
        for row in leaving {
            users.append(text: row.user)
            bytes.removeAll(keepingCapacity: true)
            row.pusher.uuid.appendBytes(to: &bytes)
            pushers.append(uuid: bytes.span)
        }
        try database { () throws(PostgresError) -> Void in
            try connection.execute(
                """
                DELETE FROM pushers p USING unnest($1, $2) AS l (user_id, pusher_id)
                WHERE p.user_id = l.user_id AND p.pusher_id = l.pusher_id
                """,
                [.array(users), .array(pushers)]
            )
        }
    }
}

/// What registrations came to.
package struct ImportTally: Sendable, Equatable {
    /// Pushers that were created or replaced.
    package var written = 0
    /// Pushers that were there and were asked to be removed.
    package var removed = 0
    /// Other users' pushers of a device that changed hands.
    package var displaced = 0

    package init(written: Int = 0, removed: Int = 0, displaced: Int = 0) {
        self.written = written
        self.removed = removed
        self.displaced = displaced
    }

    package static func += (sum: inout ImportTally, other: ImportTally) {
        sum.written += other.written
        sum.removed += other.removed
        sum.displaced += other.displaced
    }
}
