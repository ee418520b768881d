internal import KeyChains
internal import Postgres
internal import Push
internal import Sealing

/// Opens the stored key chains of a batch, one at a time, and moves each to the current month.
///
/// The keys of one pusher at a time are in memory, in a buffer that the next one overwrites. What was moved is noted in ``moves``, to be written
/// back before the batch is committed. One lane's own.
struct ChainLoader: ~Copyable {
    /// The keys of the pusher loaded last.
    private(set) var generation: KeyGeneration
    private(set) var moves = ChainMoves()
    private var chains: ChainSeal
    private var deriver: ChainDeriver
    private var random = RandomSource()
    private var sealed: [UInt8] = []
    private var idBytes: [UInt8] = []
    private var nextIDBytes: [UInt8] = []
    private var id = ""

    private typealias Column = SubscriptionLookup.Column

    init(keys: consuming KeyRing) throws(SealingError) {
        let chains = try ChainSeal(ring: keys)
        let deriver = try ChainDeriver()
        self.chains = chains
        self.deriver = deriver
        generation = KeyGeneration(month: Month.accepted.lowerBound) { _ in }
    }

    mutating func beginBatch() {
        moves.removeAll()
    }

    mutating func writeBack(to connection: inout Connection) throws(PostgresError) -> Int {
        try moves.write(to: &connection)
    }

    /// Loads the chain in `row` into ``generation``, moved to `month` unless it is there or ahead: a chain never moves back.
    ///
    /// - Parameters:
    ///   - pusher: whose chain it is.
    ///   - user: whose pusher it is.
    ///   - rows: the lookup's answer.
    ///   - row: one with a chain.
    ///   - month: by the database's clock.
    /// - Returns: why this chain cannot be used, for the dead letter; nil if it can.
    /// - Throws: ``EncryptError/missingKey(_:)`` when the key file lacks the key that the chain is sealed under.
    mutating func load(
        _ pusher: PusherID,
        of user: [UInt8],
        _ rows: borrowing Rows,
        _ row: Int,
        month: Month
    ) throws(EncryptError) -> String? {
        guard let stored = try read(rows, row) else { return "the chain's month is out of range" }
        do throws(SealingError) {
            try Self.open(sealed, id, ChainBinding(pusher, stored), &chains, stored, &generation)
        } catch {
            if case .unknownKey(let id) = error { throw .missingKey(id) }
            return "the sealed chain does not open: \(error)"
        }
        do throws(KeyChainError) {
            guard try generation.advance(to: month, using: &deriver) > 0 else { return nil }
        } catch {
            return "\(error)"
        }
        try noteMove(of: pusher, user)
        return nil
    }

    /// Reads the sealed chain and the id of its key; nil if its month cannot be.
    private mutating func read(_ rows: borrowing Rows, _ row: Int) throws(EncryptError) -> Month? {
        do throws(PostgresError) {
            sealed.removeAll(keepingCapacity: true)
            try rows.append(row, Column.chain, to: &sealed)
            nextIDBytes.removeAll(keepingCapacity: true)
            try rows.append(row, Column.chainKey, to: &nextIDBytes)
            // Nearly every row names the same key: its text is made only when it changes.
            if nextIDBytes != idBytes {
                swap(&idBytes, &nextIDBytes)
                id = String(decoding: idBytes, as: UTF8.self)
            }
            return Month(ordinal: try rows.int4(row, Column.chainMonth))
        } catch {
            throw .database(error)
        }
    }

    private static func open(
        _ sealed: [UInt8],
        _ id: String,
        _ binding: ChainBinding,
        _ chains: inout ChainSeal,
        _ month: Month,
        _ generation: inout KeyGeneration
    ) throws(SealingError) {
        try generation.load(month: month) { material throws(SealingError) in
            try chains.open(sealed.span, under: id, bound: binding, into: &material)
        }
    }

    private mutating func noteMove(of pusher: PusherID, _ user: [UInt8]) throws(EncryptError) {
        guard !moves.contains(pusher) else { return }
        var new: [UInt8] = []
        do throws(SealingError) {
            try Self.seal(generation, ChainBinding(pusher, generation.month), &chains, &random, &new)
        } catch {
            throw .sealing(error)
        }
        moves.note(
            user: user,
            pusher: pusher,
            from: sealed,
            to: generation.month,
            under: chains.activeID,
            sealed: new
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
}
