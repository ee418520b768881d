internal import Postgres
internal import Push
internal import Sealing

/// Makes the notification of one event for one subscribed pusher: moves the key chain, seals the content, writes the record's final bytes.
///
/// Every buffer and every context is made once and used again, so that a notification costs its cryptography and its bytes. The record
/// stays in ``record`` until the next one. One lane's own.
struct NotificationBuilder: ~Copyable {
    /// What became of a row of the lookup.
    enum Result: Equatable {
        case built
        /// The pusher has no key chain and the channel sends nothing in plain.
        case withoutKeys
        case faulty(DeadLetterReason, String)
    }

    private(set) var record = NotificationRecord()
    var loader: ChainLoader
    private var sealer: ContentSealer
    private var digest: Digest
    private var hashed: [UInt8] = []
    private var keyIdentifier: [UInt8] = []

    private typealias Column = SubscriptionLookup.Column

    init(keys: consuming KeyRing) throws(SealingError) {
        let loader = try ChainLoader(keys: keys)
        let sealer = try ContentSealer()
        let digest = try Digest()
        self.loader = loader
        self.sealer = sealer
        self.digest = digest
    }

    mutating func beginBatch() {
        loader.beginBatch()
        record.beginBatch()
        sealer.beginBatch()
    }

    /// Builds the notification of `event` for the pusher in `row`.
    ///
    /// - Parameters:
    ///   - event: one of the batch's.
    ///   - index: its index there.
    ///   - rows: the lookup's answer.
    ///   - row: one with a pusher.
    ///   - month: by the database's clock.
    /// - Returns: what became of the row.
    /// - Throws: ``EncryptError`` for what is no fault of the event.
    mutating func build(
        _ event: TriggerEvent,
        index: Int,
        _ rows: borrowing Rows,
        _ row: Int,
        month: Month
    ) throws(EncryptError) -> Result {
        guard let target = try Target(rows, row) else {
            return .faulty(.unknownGateway, "the pusher's gateway is not on the list")
        }
        let id = try notificationID(event, target.pusher)
        record.begin(target.pusher)
        guard target.hasChain else { return try buildPlain(event, index, id, target, rows, row) }
        if let fault = try loader.load(target.pusher, of: event.user, rows, row, month: month) {
            return .faulty(.keyChainUnusable, "pusher \(target.pusher): \(fault)")
        }
        try writeSealed(event, index, id, target, rows, row)
        return .built
    }

    /// Who a row is about, and which interface its gateway speaks.
    private struct Target {
        let pusher: PusherID
        let dialect: Dialect
        let hasChain: Bool
        let registered: Timestamp

        init?(_ rows: borrowing Rows, _ row: Int) throws(EncryptError) {
            do throws(PostgresError) {
                guard let pusher = try rows.withBytes(row, Column.pusher, { PusherID(bytes: $0) }) ?? nil,
                    let dialect = try rows.withBytes(row, Column.dialect, { Dialect($0) }) ?? nil
                else { return nil }
                self.pusher = pusher
                self.dialect = dialect
                hasChain = try !rows.isNull(row, Column.chainMonth)
                registered = Timestamp(milliseconds: try rows.timestampMilliseconds(row, Column.registered))
            } catch {
                throw .database(error)
            }
        }
    }

    private mutating func notificationID(
        _ event: TriggerEvent,
        _ pusher: PusherID
    ) throws(EncryptError) -> NotificationID {
        hashed.removeAll(keepingCapacity: true)
        NotificationID.appendDigestInput(
            source: event.source.span,
            event: event.id.span,
            pusher: pusher,
            to: &hashed
        )
        do throws(SealingError) {
            let hash = try Self.hash(hashed, &digest)
            return NotificationID(digest: hash.span)
        } catch {
            throw .sealing(error)
        }
    }

    private static func hash(_ bytes: [UInt8], _ digest: inout Digest) throws(SealingError) -> Digest.Hash {
        try digest.sha256(bytes.span)
    }

    private mutating func writeSealed(
        _ event: TriggerEvent,
        _ index: Int,
        _ id: NotificationID,
        _ target: Target,
        _ rows: borrowing Rows,
        _ row: Int
    ) throws(EncryptError) {
        let encoder = NotificationEncoder(target.dialect)
        let month = loader.generation.month
        encoder.appendBeforeCiphertext(id: id, month: month, to: &record.value)
        do throws(SealingError) {
            try sealer.append(
                event.content,
                event: index,
                framed: encoder.format.isFramed,
                under: loader.generation,
                to: &record.value
            )
        } catch {
            throw .sealing(error)
        }
        do throws(PostgresError) {
            keyIdentifier.removeAll(keepingCapacity: true)
            // None for a chain of the dialect concept-2024, which does not send one.
            try rows.append(row, Column.keyIdentifier, to: &keyIdentifier)
            let keyIdentifier = keyIdentifier
            encoder.appendAfterCiphertext(
                month: month,
                keyIdentifier: keyIdentifier.span,
                identifier: event.identifier,
                priority: event.priority,
                to: &record.value
            )
            try Self.withDevice(rows, row) { app, pushkey, data in
                encoder.appendDevice(
                    appID: app,
                    pushkey: pushkey,
                    registered: target.registered,
                    data: data,
                    to: &record.value
                )
            }
            try record.writeHeaders(
                event,
                index: index,
                id,
                encoder.format,
                month,
                registered: target.registered,
                rows,
                row
            )
        } catch {
            throw .database(error)
        }
    }

    private mutating func buildPlain(
        _ event: TriggerEvent,
        _ index: Int,
        _ id: NotificationID,
        _ target: Target,
        _ rows: borrowing Rows,
        _ row: Int
    ) throws(EncryptError) -> Result {
        do throws(PostgresError) {
            // The concept of 2024 knows no form for it.
            guard try rows.bool(row, Column.allowPlain), target.dialect == .gematik12 else {
                return .withoutKeys
            }
            guard let content = PlainItem.content(event.content) else {
                return .faulty(.invalidAttribute, "data: is no JSON object, which a plain notification needs")
            }
            var channel: [UInt8] = []
            try rows.append(row, Column.channel, to: &channel)
            PlainItem.appendBeforeDevice(
                id: id,
                event: event,
                channel: channel,
                content: content,
                to: &record.value
            )
            try Self.withDevice(rows, row) { app, pushkey, data in
                PlainItem.appendDevice(
                    appID: app,
                    pushkey: pushkey,
                    registered: target.registered,
                    data: data,
                    to: &record.value
                )
            }
            try record.writeHeaders(
                event,
                index: index,
                id,
                .gematik12Plain,
                nil,
                registered: target.registered,
                rows,
                row
            )
            return .built
        } catch {
            throw .database(error)
        }
    }

    /// Lends app id, pushkey and data of a row; the data is empty when there is none.
    private static func withDevice(
        _ rows: borrowing Rows,
        _ row: Int,
        _ body: (Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(PostgresError) {
        _ = try rows.withBytes(row, Column.app) { app throws(PostgresError) in
            _ = try rows.withBytes(row, Column.pushkey) { pushkey throws(PostgresError) in
                let hasData: Void? = try rows.withBytes(row, Column.data) { data in body(app, pushkey, data) }
                if hasData == nil { body(app, pushkey, Span()) }
            }
        }
    }
}
