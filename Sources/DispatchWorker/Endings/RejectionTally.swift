internal import Kafka
internal import Lanes
internal import Push
internal import Registrar

/// What gateways' answers say about their keys, until the lane tells the database: how many messages of each app were taken and how many
/// keys rejected, answer by answer.
///
/// Filled while answers are read, before the engine ends their records. Bounded: gates by how many apps gateways have in a few seconds, successes by
/// ``successLimit``. One lane's own.
struct RejectionTally {
    /// What is known of one rejected message.
    struct Evidence {
        let gate: RejectionGateKey
        /// Monotonic nanoseconds.
        let sent: Int64
        /// The app's messages in the same answer.
        var answer = AnswerShare()
    }

    private struct Count {
        let key: RejectionGateKey
        /// The app's id in bytes, as records carry it.
        let app: [UInt8]
        var answers = GateAnswers()
        /// Monotonic nanoseconds: when the first was sent that was taken, and when the last one was taken.
        var oldestSent = Int64.max
        var lastAccepted: Int64?
        var isForgetful = false
        /// Of the answer at hand.
        var current = AnswerShare()
    }

    private(set) var evidence: [Ticket: Evidence] = [:]
    /// Gates with open rejections: of these it is remembered who got messages.
    var watched: Set<RejectionGateKey> = []
    private var counts: [Count] = []
    private var places: [RejectionGateKey: Int] = [:]
    private var last = 0
    private var successes: [RejectionFlush.Success] = []

    private static let successLimit = 20_000
    /// Beyond it apps are counted together, under an id that no app has.
    private static let gateLimit = 2000
    private static let answerLimit = 64

    var isEmpty: Bool { counts.isEmpty }
    /// More would be forgotten.
    var isFull: Bool { successes.count >= Self.successLimit }

    // MARK: Answers

    /// Takes note of an answer.
    ///
    /// - Parameters:
    ///   - answers: by id, in any order.
    ///   - batch: what was asked.
    ///   - origin: who answers.
    ///   - sent: when it was asked, in monotonic nanoseconds.
    ///   - engine: has the records.
    mutating func note(
        _ answers: [ItemAnswer],
        to batch: OutboundBatch,
        from origin: GatewayOrigin,
        sent: Int64,
        _ engine: borrowing OutboundEngine<Outgoing>
    ) {
        let records = batch.tickets.map { engine.payload(of: $0) }
        let isInOrder = Self.isInOrder(answers, records)
        let outcomes = isInOrder ? [:] : Self.byID(answers)
        var touched: [Int] = []
        var rejected: [(Ticket, Int)] = []
        for (place, ticket) in batch.tickets.enumerated() {
            guard let outgoing = records[place] else { continue }
            let outcome = isInOrder ? answers[place].outcome : outcomes[outgoing.id] ?? nil
            guard outcome == .accepted || outcome == .rejected else { continue }
            let index = index(origin, outgoing)
            if counts[index].current.total == 0 { touched.append(index) }
            if outcome == .accepted {
                counts[index].current.accepted += 1
                noteSuccess(outgoing, index)
            } else {
                counts[index].current.rejected += 1
                rejected.append((ticket, index))
            }
        }
        for (ticket, index) in rejected {
            evidence[ticket] = Evidence(gate: counts[index].key, sent: sent, answer: counts[index].current)
        }
        for index in touched { conclude(index, sent) }
    }

    /// Whether there is one answer a record, in the order of the request, as nearly always.
    private static func isInOrder(_ answers: [ItemAnswer], _ records: [Outgoing?]) -> Bool {
        guard answers.count == records.count else { return false }
        return records.indices.allSatisfy { records[$0]?.id == answers[$0].id }
    }

    /// The outcome of each id; none where an answer contradicts itself.
    private static func byID(_ answers: [ItemAnswer]) -> [NotificationID: Outcome?] {
        var outcomes: [NotificationID: Outcome?] = [:]
        for answer in answers {
            if let known = outcomes[answer.id] {
                if known != answer.outcome { outcomes[answer.id] = .some(nil) }
            } else {
                outcomes[answer.id] = .some(answer.outcome)
            }
        }
        return outcomes
    }

    /// Adds the answer at hand to a gate's counts.
    private mutating func conclude(_ index: Int, _ sent: Int64) {
        let answer = counts[index].current
        counts[index].current = AnswerShare()
        counts[index].answers.accepted += Int64(answer.accepted)
        counts[index].answers.rejected += Int64(answer.rejected)
        if answer.accepted > 0 {
            counts[index].oldestSent = min(counts[index].oldestSent, sent)
            counts[index].lastAccepted = Monotonic.now()
        }
        guard answer.rejected > 0 else { return }
        if counts[index].answers.withRejections.count < Self.answerLimit {
            counts[index].answers.withRejections.append(answer)
        } else if let smallest = counts[index].answers.withRejections.indices.min(by: {
            counts[index].answers.withRejections[$0].rejected
                < counts[index].answers.withRejections[$1].rejected
        }), counts[index].answers.withRejections[smallest].rejected < answer.rejected {
            counts[index].answers.withRejections[smallest] = answer
        }
    }

    private mutating func noteSuccess(_ outgoing: Outgoing, _ index: Int) {
        guard !watched.isEmpty, watched.contains(counts[index].key) else { return }
        guard let pusher = outgoing.pusher, let user = outgoing.user else { return }
        guard !isFull else {
            counts[index].isForgetful = true
            return
        }
        successes.append(RejectionFlush.Success(user: user, pusher: pusher, gate: counts[index].key))
    }

    /// The count of a record's gateway and app; most records are for the same as the one before.
    private mutating func index(_ origin: GatewayOrigin, _ outgoing: Outgoing) -> Int {
        if counts.indices.contains(last), counts[last].key.origin == origin.text,
            outgoing.app == counts[last].app
        {
            return last
        }
        let app = outgoing.app
        var key = RejectionGateKey(origin: origin.text, app: Self.name(app))
        if places[key] == nil, counts.count >= Self.gateLimit {
            key = RejectionGateKey(origin: origin.text, app: Self.anyApp)
        }
        if let known = places[key] {
            last = known
        } else {
            last = counts.count
            places[key] = last
            counts.append(Count(key: key, app: app))
        }
        return last
    }

    private static let anyApp = "*"

    /// An app's id; what could not be one stands together with the others of its kind.
    private static func name(_ app: [UInt8]) -> String {
        guard let text = String(validating: app, as: UTF8.self), !text.isEmpty, !app.contains(0),
            text.unicodeScalars.count <= 64
        else { return anyApp }
        return text
    }

    // MARK: Telling

    /// All counts and successes, and of the watched gates those without answers too, so that what waits there is looked at.
    func flush(waiting: Set<RejectionGateKey>) -> RejectionFlush {
        let now = Monotonic.now()
        var flush = RejectionFlush()
        for count in counts {
            flush.gates.append(
                RejectionFlush.Gate(
                    count.key,
                    count.answers,
                    acceptedAge: count.lastAccepted.map { (now - $0) / 1_000_000 },
                    // A millisecond more, for what rounding took.
                    oldestSentAge: count.oldestSent == .max ? 0 : (now - count.oldestSent) / 1_000_000 + 1,
                    isForgetful: count.isForgetful
                )
            )
        }
        for gate in waiting where places[gate] == nil { flush.gates.append(RejectionFlush.Gate(gate)) }
        flush.successes = successes
        return flush
    }

    /// What ``flush(waiting:)`` gave is in the database.
    mutating func settled() {
        counts.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        successes.removeAll(keepingCapacity: true)
        last = 0
    }

    /// A rejected record has ended or is tried again.
    mutating func forget(_ ticket: Ticket) { evidence[ticket] = nil }

    /// Forgets records that the engine has given back.
    mutating func forgetGone(_ engine: borrowing OutboundEngine<Outgoing>) {
        guard evidence.count > Self.gateLimit else { return }
        for ticket in Array(evidence.keys) where engine.payload(of: ticket) == nil { evidence[ticket] = nil }
    }
}
