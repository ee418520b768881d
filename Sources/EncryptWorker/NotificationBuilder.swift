internal import Kafka
internal import KeyChains
internal import Postgres
internal import Push
internal import Sealing

/// Makes the notification of one event for one subscribed pusher: moves the key chain, seals the content, writes the record's final bytes.
///
/// Every buffer and every context is made once and used again, so that a notification costs its cryptography and its bytes, no
/// allocation. The record stays in ``key``, ``value`` and ``headers`` until the next one. One lane's own.
struct NotificationBuilder: ~Copyable {
    /// What became of a row of the lookup.
    enum Result: Equatable {
        case built
        /// The pusher has no key chain and the channel sends nothing in plain.
        case withoutKeys
        case faulty(DeadLetterReason, String)
    }

    private(set) var key: [UInt8] = []
    private(set) var value: [UInt8] = []
    private(set) var headers = Headers()
    /// Chains moved since the batch began.
    var moves = ChainMoves()

    private var cipher: Cipher
    private var digest: Digest
    private var random = RandomSource()
    private var deriver: ChainDeriver
    private var chains: ChainSeal
    private var generation: KeyGeneration
    private var frame: [UInt8] = []
    /// The event whose content is in `frame`.
    private var framedEvent = -1
    private var sealed: [UInt8] = []
    private var scratch: [UInt8] = []
    private var keyIDBytes: [UInt8] = []
    private var keyID = ""

    private typealias Column = SubscriptionLookup.Column

    init(keys: consuming KeyRing) throws(SealingError) {
        cipher = try Cipher()
        digest = try Digest()
        deriver = try ChainDeriver()
        chains = try ChainSeal(ring: keys)
        generation = KeyGeneration(month: Month.accepted.lowerBound) { _ in }
    }

    mutating func beginBatch() {
        moves.removeAll()
        framedEvent = -1
    }

    /// Builds the notification of `event` for the pusher in `row`.
    ///
    /// - Parameters:
    ///   - event: one of the batch's.
    ///   - index: its index there.
    ///   - rows: the lookup's answer.
    ///   - row: one with a pusher.
    ///   - month: by the database's clock.
    /// - Throws: ``EncryptError/missingKey(_:)`` when the key file lacks the key that the chain is sealed under: that is for the operator, not a
    ///   fault of the event.
    mutating func build(
        _ event: TriggerEvent,
        index: Int,
        _ rows: borrowing Rows,
        _ row: Int,
        month: Month
    ) throws(EncryptError) -> Result {
        do throws(PostgresError) {
            guard let pusher = try rows.withBytes(row, Column.pusher, { PusherID(bytes: $0) }) ?? nil,
                let dialect = try rows.withBytes(row, Column.dialect, { Dialect($0) }) ?? nil
            else { return .faulty(.unknownGateway, "the pusher's gateway is not on the list") }
            let id = try notificationID(event, pusher)
            if try rows.isNull(row, Column.chainMonth) {
                return try buildPlain(event, id, pusher, dialect, rows, row)
            }
            if let fault = try loadChain(of: pusher, event.user, rows, row, month) { return fault }
            try writeSealed(event, index, id, dialect, rows, row)
            try writeHeaders(event, id, pusher, sealedFormat(dialect), generation.month, rows, row)
            return .built
        } catch {
            throw .database(error)
        }
    }

    private func sealedFormat(_ dialect: Dialect) -> NotificationFormat { NotificationEncoder(dialect).format }

    private mutating func notificationID(_ event: TriggerEvent, _ pusher: PusherID) throws(EncryptError) -> NotificationID {
        scratch.removeAll(keepingCapacity: true)
        NotificationID.appendDigestInput(source: event.source.span, event: event.id.span, pusher: pusher, to: &scratch)
        do throws(SealingError) {
            let hash = try digest.sha256(scratch.span)
            return NotificationID(digest: hash.span)
        } catch {
            throw .sealing(error)
        }
    }

    // MARK: - The key chain

    /// Loads the row's chain, moved to `month` unless it is there or ahead.
    ///
    /// - Returns: why not, or nil.
    private mutating func loadChain(
        of pusher: PusherID,
        _ user: [UInt8],
        _ rows: borrowing Rows,
        _ row: Int,
        _ month: Month
    ) throws(EncryptError) -> Result? {
        let stored: Month
        do throws(PostgresError) {
            guard let read = Month(ordinal: try rows.int4(row, Column.chainMonth)) else {
                return .faulty(.keyChainUnusable, "pusher \(pusher): the chain's month is out of range")
            }
            stored = read
            try readKeyID(rows, row)
            scratch.removeAll(keepingCapacity: true)
            try rows.append(row, Column.chain, to: &scratch)
        } catch {
            throw .database(error)
        }
        let binding = ChainBinding(pusher, stored)
        do throws(SealingError) {
            let keyID = self.keyID
            try generation.load(month: stored) { material throws(SealingError) in
                try chains.open(scratch.span, under: keyID, bound: binding, into: &material)
            }
        } catch {
            switch error {
            case .unknownKey(let id): throw .missingKey(id)
            default: return .faulty(.keyChainUnusable, "pusher \(pusher): the sealed chain does not open: \(error)")
            }
        }
        do throws(KeyChainError) {
            guard try generation.advance(to: month, using: &deriver) > 0 else { return nil }
        } catch {
            return .faulty(.keyChainUnusable, "pusher \(pusher): \(error)")
        }
        try noteMove(of: pusher, user, from: scratch)
        return nil
    }

    private mutating func noteMove(of pusher: PusherID, _ user: [UInt8], from old: [UInt8]) throws(EncryptError) {
        guard !moves.contains(pusher) else { return }
        var new: [UInt8] = []
        let binding = ChainBinding(pusher, generation.month)
        do throws(SealingError) {
            try generation.withMaterial { material throws(SealingError) in
                try chains.seal(material, bound: binding, random: &random, into: &new)
            }
        } catch {
            throw .sealing(error)
        }
        moves.note(user: user, pusher: pusher, from: old, to: generation.month, under: chains.activeID, sealed: new)
    }

    /// Nearly every row names the same key: its text is made only when the bytes differ from the row before.
    private mutating func readKeyID(_ rows: borrowing Rows, _ row: Int) throws(PostgresError) {
        scratch.removeAll(keepingCapacity: true)
        try rows.append(row, Column.chainKey, to: &scratch)
        if scratch == keyIDBytes { return }
        keyIDBytes = scratch
        keyID = String(decoding: scratch, as: UTF8.self)
    }

    // MARK: - The value

    private mutating func writeSealed(
        _ event: TriggerEvent,
        _ index: Int,
        _ id: NotificationID,
        _ dialect: Dialect,
        _ rows: borrowing Rows,
        _ row: Int
    ) throws(EncryptError) {
        let encoder = NotificationEncoder(dialect)
        value.removeAll(keepingCapacity: true)
        encoder.appendBeforeCiphertext(id: id, month: generation.month, to: &value)
        try seal(event, index, framed: encoder.format.isFramed)
        Base64.encode(sealed.span, into: &value)
        do throws(PostgresError) {
            let month = generation.month
            _ = try rows.withBytes(row, Column.keyIdentifier) { identifier in
                encoder.appendAfterCiphertext(
                    month: month,
                    keyIdentifier: identifier,
                    identifier: event.identifier,
                    priority: event.priority,
                    to: &value
                )
            }
            let registered = Timestamp(milliseconds: try rows.timestampMilliseconds(row, Column.registered))
            try withDevice(rows, row) { app, pushkey, data in
                encoder.appendDevice(appID: app, pushkey: pushkey, registered: registered, data: data, to: &value)
            }
        } catch {
            throw .database(error)
        }
    }

    /// Seals the content under the chain's key; the frame around it is written once an event, not once a pusher.
    private mutating func seal(_ event: TriggerEvent, _ index: Int, framed: Bool) throws(EncryptError) {
        if framed && framedEvent != index {
            let fits = PlaintextFrame.frame(event.content.span, into: &frame)
            precondition(fits, "a longer content was a dead letter before")
            framedEvent = index
        }
        sealed.removeAll(keepingCapacity: true)
        do throws(SealingError) {
            try generation.withKey { key throws(SealingError) in try cipher.setKey(key) }
            let plaintext = framed ? frame.span : event.content.span
            try cipher.seal(plaintext, random: &random, into: &sealed)
        } catch {
            throw .sealing(error)
        }
    }

    private mutating func buildPlain(
        _ event: TriggerEvent,
        _ id: NotificationID,
        _ pusher: PusherID,
        _ dialect: Dialect,
        _ rows: borrowing Rows,
        _ row: Int
    ) throws(PostgresError) -> Result {
        // The concept of 2024 knows no form for it.
        guard try rows.bool(row, Column.allowPlain), dialect == .gematik12 else { return .withoutKeys }
        guard let content = PlainItem.content(event.content) else {
            return .faulty(.invalidAttribute, "data: is no JSON object, which a plain notification needs")
        }
        let channel = try rows.text(row, Column.channel)
        value.removeAll(keepingCapacity: true)
        PlainItem.appendBeforeDevice(id: id, event: event, channel: Array(channel.utf8), content: content, to: &value)
        let registered = Timestamp(milliseconds: try rows.timestampMilliseconds(row, Column.registered))
        try withDevice(rows, row) { app, pushkey, data in
            PlainItem.appendDevice(appID: app, pushkey: pushkey, registered: registered, data: data, to: &value)
        }
        try writeHeaders(event, id, pusher, .gematik12Plain, nil, rows, row)
        return .built
    }

    /// Lends app id, pushkey and data of a row; the data is empty when there is none.
    private func withDevice(
        _ rows: borrowing Rows,
        _ row: Int,
        _ body: (Span<UInt8>, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(PostgresError) {
        _ = try rows.withBytes(row, Column.app) { app throws(PostgresError) in
            _ = try rows.withBytes(row, Column.pushkey) { pushkey throws(PostgresError) in
                if try rows.withBytes(row, Column.data, { body(app, pushkey, $0) }) == nil { body(app, pushkey, Span()) }
            }
        }
    }

    // MARK: - Key and headers

    private mutating func writeHeaders(
        _ event: TriggerEvent,
        _ id: NotificationID,
        _ pusher: PusherID,
        _ format: NotificationFormat,
        _ month: Month?,
        _ rows: borrowing Rows,
        _ row: Int
    ) throws(PostgresError) {
        key.removeAll(keepingCapacity: true)
        pusher.uuid.appendText(to: &key)
        headers.removeAll()
        scratch.removeAll(keepingCapacity: true)
        id.uuid.appendText(to: &scratch)
        headers.append("id", scratch.span)
        headers.append("user", event.user.span)
        scratch.removeAll(keepingCapacity: true)
        _ = try rows.withBytes(row, Column.url) { format.appendEndpoint(url: $0, to: &scratch) }
        headers.append("gateway", scratch.span)
        headers.append("format", text: format.rawValue)
        _ = try rows.withBytes(row, Column.app) { headers.append("app", $0) }
        _ = try rows.withBytes(row, Column.channel) { headers.append("channel", $0) }
        headers.append("event", event.id.span)
        headers.append("source", event.source.span)
        if let month { headers.append("month", month.ascii.span) }
        appendNumber("registered", try rows.timestampMilliseconds(row, Column.registered))
        appendNumber("created", event.created.milliseconds)
        appendNumber("expires", event.expires.milliseconds)
        if let traceparent = event.traceparent { headers.append("traceparent", traceparent.span) }
    }

    private mutating func appendNumber(_ name: StaticString, _ number: Int64) {
        scratch.removeAll(keepingCapacity: true)
        Digits.append(number, to: &scratch)
        headers.append(name, scratch.span)
    }
}
