internal import KeyChains
package import Postgres
internal import Push
package import Sealing

/// Moves the sealed chains of all pushers to the active key-encryption key, while workers go on.
///
/// Batch by batch in the order of the primary key. What is done is done: a chain under the active key is passed over, so an interrupted run is
/// continued by starting another. A row is written only while it still holds exactly the chain that was read; one that a worker moved
/// to a new month in between is found by the next pass. Afterwards the old key may leave the key file, once no worker that still
/// has it as its active one is running.
package struct ChainResealer: ~Copyable {
    /// How it stands.
    package struct Progress: Sendable, Equatable {
        /// Chains that were moved to the active key.
        package var resealed: Int64 = 0
        /// Chains that do not open under the key that their rows name: damaged, or moved there from elsewhere.
        package var damaged: Int64 = 0
        /// Keys that rows name and the key file does not have.
        package var missingKeys: [String] = []

        package init(resealed: Int64 = 0, damaged: Int64 = 0, missingKeys: [String] = []) {
            self.resealed = resealed
            self.damaged = damaged
            self.missingKeys = missingKeys
        }
    }

    package static let batchLimit = 2000

    /// Where a pass stands: behind this pusher.
    fileprivate struct Place {
        var user = ""
        var pusher = PusherID(UUIDBytes(high: 0, low: 0))
    }

    /// A chain that is not under the active key.
    private struct StoredChain {
        let place: Place
        let keyID: String
        let month: Int32
        let sealed: [UInt8]
    }

    private var chains: ChainSeal
    private var random = RandomSource()
    package private(set) var progress = Progress()

    package init(keys: consuming KeyRing) throws(SealingError) {
        chains = try ChainSeal(ring: keys)
    }

    /// The id of the key that all chains are moved to.
    package var activeID: String { chains.activeID }

    /// Re-seals until nothing is left that can be.
    ///
    /// - Parameters:
    ///   - connection: any; nothing is held between batches.
    ///   - limit: pushers that are looked at in one statement.
    ///   - report: called after each batch; false stops there.
    /// - Returns: how it ended.
    /// - Throws: ``RegistrarError/database(_:)``; what was written until then stays.
    package mutating func run(
        on connection: inout Connection,
        batchLimit limit: Int = batchLimit,
        report: (Progress) -> Bool
    ) throws(RegistrarError) -> Progress {
        while true {
            let before = progress.resealed
            progress.damaged = 0
            let ids = try database { () throws(PostgresError) in try KeyUsage.ids(from: &connection) }
            progress.missingKeys = ids.filter { !chains.ids.contains($0) }
            let isLeft = ids.contains { $0 != activeID && chains.ids.contains($0) }
            guard isLeft, try pass(limit, on: &connection, report) else { return progress }
            // A pass that moved nothing has met only what cannot be moved.
            if progress.resealed == before { return progress }
        }
    }

    /// One pass over all pushers.
    ///
    /// - Returns: false if it was stopped.
    private mutating func pass(
        _ limit: Int,
        on connection: inout Connection,
        _ report: (Progress) -> Bool
    ) throws(RegistrarError) -> Bool {
        var place = Place()
        while true {
            let (stored, read) = try Self.read(behind: &place, notUnder: activeID, limit, on: &connection)
            progress.resealed += Int64(try resealed(stored).write(to: &connection))
            guard report(progress) else { return false }
            if read < limit { return true }
        }
    }

    private mutating func resealed(_ stored: [StoredChain]) -> ResealedChains {
        var batch = ResealedChains(keyID: activeID)
        var sealed: [UInt8] = []
        for chain in stored where chains.ids.contains(chain.keyID) {
            sealed.removeAll(keepingCapacity: true)
            if let month = Month(ordinal: chain.month),
                reseal(
                    chain.sealed,
                    under: chain.keyID,
                    ChainBinding(chain.place.pusher, month),
                    into: &sealed
                )
            {
                batch.append(
                    user: chain.place.user,
                    pusher: chain.place.pusher,
                    from: chain.sealed,
                    to: sealed
                )
            } else {
                progress.damaged += 1
            }
        }
        return batch
    }

    /// $1 and $2 the pusher before, $3 how many, $4 the active key.
    ///
    /// All pushers are read, not only those that are wanted: so only one index fits, whatever the statistics say, and no statement
    /// takes long to find its rows.
    private static let statement = """
        SELECT user_id, pusher_id, chain_key_id, chain_month, CASE WHEN chain_key_id <> $4 THEN chain_sealed END
        FROM pushers WHERE (user_id, pusher_id) > ($1, $2) ORDER BY user_id, pusher_id LIMIT $3
        """

    private static func read(
        behind place: inout Place,
        notUnder active: String,
        _ limit: Int,
        on connection: inout Connection
    ) throws(RegistrarError) -> ([StoredChain], read: Int) {
        var pusher: [UInt8] = []
        place.pusher.uuid.appendBytes(to: &pusher)
        let parameters: Parameters = [
            .text(place.user), .uuid(pusher), .int8(Int64(limit)), .text(active),
        ]
        do throws(PostgresError) {
            let rows = try connection.query(statement, parameters)
            var stored: [StoredChain] = []
            for row in 0..<rows.count {
                guard let sealed = try rows.byteaIfPresent(row, 4) else { continue }
                stored.append(
                    StoredChain(
                        place: try Place(rows, row),
                        keyID: try rows.text(row, 2),
                        month: try rows.int4(row, 3),
                        sealed: sealed
                    )
                )
            }
            if rows.count > 0 { place = try Place(rows, rows.count - 1) }
            return (stored, rows.count)
        } catch {
            throw .database(error)
        }
    }

    private mutating func reseal(
        _ old: [UInt8],
        under id: String,
        _ binding: ChainBinding,
        into sealed: inout [UInt8]
    ) -> Bool {
        do throws(SealingError) {
            try chains.reseal(old.span, under: id, bound: binding, random: &random, into: &sealed)
            return true
        } catch {
            return false
        }
    }
}

extension ChainResealer.Place {
    fileprivate init(_ rows: borrowing Rows, _ row: Int) throws(PostgresError) {
        self.init(user: try rows.text(row, 0), pusher: try PusherID(rows, row, 1))
    }
}

/// Chains under their new key, to be put in the place of the old ones.
private struct ResealedChains {
    private let keyID: String
    private var users = ArrayParameter(of: .text)
    private var pushers = ArrayParameter(of: .uuid)
    private var old = ArrayParameter(of: .bytea)
    private var new = ArrayParameter(of: .bytea)

    /// $1 users, $2 pusher ids, $3 old chains, $4 new chains, $5 key id.
    ///
    /// Locked in the order of the key, as whoever moves chains or registers pushers does.
    private static let statement = """
        WITH moved AS MATERIALIZED (
            SELECT * FROM unnest($1, $2, $3, $4) AS m (user_id, pusher_id, old_chain, new_chain)
        ), locked AS MATERIALIZED (
            SELECT p.user_id, p.pusher_id, m.old_chain, m.new_chain FROM moved m JOIN pushers p USING (user_id, pusher_id)
            WHERE p.chain_sealed = m.old_chain
            ORDER BY p.user_id, p.pusher_id
            FOR NO KEY UPDATE OF p
        )
        UPDATE pushers p SET chain_key_id = $5, chain_sealed = l.new_chain
        FROM locked l
        WHERE p.user_id = l.user_id AND p.pusher_id = l.pusher_id AND p.chain_sealed = l.old_chain
        """

    init(keyID: String) { self.keyID = keyID }

    mutating func append(user: String, pusher: PusherID, from oldChain: [UInt8], to newChain: [UInt8]) {
        var bytes: [UInt8] = []
        pusher.uuid.appendBytes(to: &bytes)
        users.append(text: user)
        pushers.append(uuid: bytes.span)
        old.append(bytea: oldChain.span)
        new.append(bytea: newChain.span)
    }

    /// - Returns: how many were still as they had been read.
    func write(to connection: inout Connection) throws(RegistrarError) -> Int {
        guard users.count > 0 else { return 0 }
        let parameters: Parameters = [
            .array(users), .array(pushers), .array(old), .array(new), .text(keyID),
        ]
        return try connection.transaction(attempts: 5) {
            (connection: inout Connection) throws(RegistrarError) in
            try database { () throws(PostgresError) in
                try connection.executeScript(
                    "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
                )
                return try connection.execute(Self.statement, parameters)
            }
        }
    }
}
