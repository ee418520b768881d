internal import Postgres
internal import Push

/// One flush on its way through a transaction of ``RejectionLedger``'s.
struct RejectionSettlement {
    private let flush: RejectionFlush
    private let stormGuard: StormGuard
    private var gates: GateRows
    private(set) var outcome = RejectionOutcome()

    private var removal = PusherRemoval()
    private var written: [OpenRejections.Row] = []
    private var held: [(user: [UInt8], pusher: PusherID, cause: HoldCause)] = []
    private var stale: [(user: [UInt8], pusher: PusherID)] = []
    /// By pusher: a flush may have several rejections of one, which are one piece of news.
    private var endings: [PusherID: RejectionOutcome.Ending] = [:]

    init(_ flush: RejectionFlush, _ stormGuard: StormGuard, _ gates: GateRows) {
        self.flush = flush
        self.stormGuard = stormGuard
        self.gates = gates
    }

    private var now: Timestamp { gates.now }

    /// The moment that long before the flush was made.
    private func moment(_ age: Int64) -> Timestamp { gates.moment(age, before: flush.made) }

    // MARK: Counting

    /// Counts the answers, and what speaks for pushers.
    mutating func count(on connection: inout Connection) throws(PostgresError) {
        for gate in flush.gates {
            guard var state = gates.gates[gate.key]?.state else { continue }
            var answers = gate.answers
            answers.acceptedAt = gate.acceptedAge.map(moment)
            if let change = stormGuard.count(answers, in: &state, at: now) {
                outcome.changes.append((gate.key, change))
            }
            gates.gates[gate.key]?.state = state
            if gate.isForgetful { outcome.lapsed += try OpenRejections.forget(gate.key, on: &connection) }
        }
        outcome.lapsed += try OpenRejections.note(flush.successes, gates, on: &connection)
    }

    // MARK: Judging

    mutating func judge(on connection: inout Connection) throws(PostgresError) {
        let ripe = try judgeWaiting(on: &connection)
        let latest = latestRejections()
        let candidates = try RejectionCandidate.lock(latest, ripe, on: &connection)
        for waiting in ripe {
            guard candidates[waiting.pusher] != nil else {
                stale.append((waiting.user, waiting.pusher))
                continue
            }
            remove(
                waiting.user,
                waiting.pusher,
                waiting.gate,
                waiting.notification,
                waiting.evidence.rejectedAt
            )
        }
        for rejection in latest where endings[rejection.pusher] == nil {
            guard let candidate = candidates[rejection.pusher] else {
                endings[rejection.pusher] = .moot
                continue
            }
            judge(rejection, candidate)
        }
        outcome.endings = flush.rejections.map { endings[$0.pusher] ?? .moot }
    }

    /// - Returns: the rejections that waited and are borne out now.
    private mutating func judgeWaiting(
        on connection: inout Connection
    ) throws(PostgresError) -> [OpenRejections.Waiting] {
        var ripe: [OpenRejections.Waiting] = []
        for waiting in try OpenRejections.waiting(flush, gates, on: &connection) {
            guard let gate = gates.gates[waiting.gate] else { continue }
            switch stormGuard.verdict(on: waiting.evidence, at: gate.state, now: now) {
            case .wait: break
            case .remove: ripe.append(waiting)
            case .hold(let cause): held.append((waiting.user, waiting.pusher, cause))
            }
        }
        outcome.held += held.count
        return ripe
    }

    /// Of several rejections of a pusher the one of its latest registration that was sent last.
    private func latestRejections() -> [RejectionFlush.Rejection] {
        var latest: [PusherID: RejectionFlush.Rejection] = [:]
        for rejection in flush.rejections {
            if let other = latest[rejection.pusher],
                (other.registered, -other.sentAge) >= (rejection.registered, -rejection.sentAge)
            {
                continue
            }
            latest[rejection.pusher] = rejection
        }
        return Array(latest.values)
    }

    private mutating func judge(_ rejection: RejectionFlush.Rejection, _ candidate: RejectionCandidate) {
        guard let gate = gates.gates[rejection.gate] else {
            endings[rejection.pusher] = .moot
            return
        }
        let sent = moment(rejection.sentAge)
        let count = gate.confirmations.count(candidate.earlier, sent: sent)
        let isNew = candidate.state == nil || candidate.state == .suspected
        if isNew, !gate.confirmations.isConfirmed(count) {
            // Heard of before: the row stays as it is.
            if count != candidate.earlier?.rejections { write(rejection, .suspected, count) }
            endings[rejection.pusher] = .again
            return
        }
        let evidence = RejectionEvidence(
            rejectedAt: now,
            accepted: Int64(rejection.answer.accepted),
            rejected: Int64(rejection.answer.rejected),
            heldSince: candidate.unprovenSince.flatMap { sent > $0 ? $0 : nil }
        )
        switch stormGuard.verdict(on: evidence, at: gate.state, now: now) {
        case .remove:
            remove(rejection.user, rejection.pusher, rejection.gate, rejection.notification.bytes, now)
        case .wait:
            if isNew { write(rejection, .waiting, count) }
            endings[rejection.pusher] = candidate.state == .held ? .held : .waiting
        case .hold(let cause):
            // One that waited is held with the others of its gate.
            if isNew {
                write(rejection, .held, count, cause: cause)
                outcome.held += 1
            }
            endings[rejection.pusher] = .held
        }
    }

    // MARK: Writing

    private mutating func remove(
        _ user: [UInt8],
        _ pusher: PusherID,
        _ gate: RejectionGateKey,
        _ notification: [UInt8],
        _ rejectedAt: Timestamp
    ) {
        let isConfirmed = gates.gates[gate].map { $0.confirmations.needed > 1 } ?? false
        removal.append(
            user: user,
            pusher,
            isConfirmed ? .confirmed : .rejected,
            notification,
            rejectedAt: rejectedAt
        )
        endings[pusher] = .removed
    }

    private mutating func write(
        _ rejection: RejectionFlush.Rejection,
        _ state: OpenRejections.State,
        _ count: Int,
        cause: HoldCause? = nil
    ) {
        written.append(
            OpenRejections.Row(
                user: rejection.user,
                pusher: rejection.pusher,
                gate: rejection.gate,
                state: state,
                cause: cause,
                registered: rejection.registered,
                notification: rejection.notification.bytes,
                rejections: count,
                answer: rejection.answer
            )
        )
    }

    mutating func write(by who: String, to connection: inout Connection) throws(PostgresError) {
        outcome.removed = try removal.run(by: who, at: now, on: &connection)
        let gone = Set(endings.lazy.filter { $0.value == .removed }.map(\.key))
        try OpenRejections.hold(held.filter { !gone.contains($0.pusher) }, on: &connection)
        try OpenRejections.forget(stale, on: &connection)
        try OpenRejections.write(written, at: now, to: &connection)
        (outcome.open, outcome.waiting) = try gates.write(to: &connection)
    }
}

extension NotificationID {
    /// 16 bytes, in the order of the text form.
    fileprivate var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        uuid.appendBytes(to: &bytes)
        return bytes
    }
}
