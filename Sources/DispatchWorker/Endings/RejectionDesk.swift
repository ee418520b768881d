internal import Lanes
internal import Push
internal import Registrar

/// The rejected records of a lane that wait to be judged, and when the lane tells the database what it has heard.
///
/// Only rejections come here that an answer from the record's own gateway has made for the record's own key (``AnswerReader``).
struct RejectionDesk {
    /// Records of this turn, in their order, and what is said to the ledger about each.
    private(set) var tickets: [Ticket] = []
    private var rejections: [RejectionFlush.Rejection] = []
    /// Gates in which rejections wait to be borne out: answers there are told sooner.
    private var waiting: Set<RejectionGateKey> = []
    private var nextFlush: Int64 = 0
    private var nextLook: Int64 = 0
    private var nextCount: Int64 = 0
    /// Gateways that had held rejections when these were last counted.
    private var shownOrigins: Set<String> = []
    let ledger: RejectionLedger
    private let interval: Duration

    /// A desk that looks for what is open every `interval`, and tells counts half as often, where nothing waits for them.
    init(_ ledger: RejectionLedger, interval: Duration) {
        self.ledger = ledger
        self.interval = interval
    }

    /// Adds a rejected record.
    ///
    /// - Returns: false if it does not say whose it is, or nothing is known of the answer; nothing can be concluded from it then.
    mutating func add(_ ticket: Ticket, _ outgoing: Outgoing, _ tally: RejectionTally) -> Bool {
        guard let pusher = outgoing.pusher, let user = outgoing.user, let registered = outgoing.registered,
            let evidence = tally.evidence[ticket]
        else { return false }
        tickets.append(ticket)
        rejections.append(
            RejectionFlush.Rejection(
                user: user,
                pusher: pusher,
                notification: outgoing.id,
                registered: registered,
                gate: evidence.gate,
                sentAge: (Monotonic.now() - evidence.sent) / 1_000_000,
                answer: evidence.answer
            )
        )
        return true
    }

    mutating func removeAll() {
        tickets.removeAll(keepingCapacity: true)
        rejections.removeAll(keepingCapacity: true)
    }

    // MARK: When

    /// Whether the database is to be told now: at once of rejections, else of counts in the rhythm.
    func isDue(_ tally: RejectionTally, atOnce: Bool) -> Bool {
        if !tickets.isEmpty || tally.isFull { return true }
        guard !tally.isEmpty || !waiting.isEmpty else { return false }
        return atOnce || Monotonic.now() >= nextFlush
    }

    /// What to tell.
    func flush(_ tally: RejectionTally) -> RejectionFlush {
        var flush = tally.flush(waiting: waiting)
        flush.rejections = rejections
        return flush
    }

    /// It was told, or could not be.
    mutating func told(_ flush: RejectionFlush, _ outcome: RejectionOutcome?) {
        if let outcome {
            waiting.subtract(flush.gates.map(\.key))
            waiting.formUnion(outcome.waiting)
            if outcome.held + outcome.lapsed > 0 { nextCount = 0 }
        }
        nextFlush = Monotonic.deadline(after: waiting.isEmpty ? interval * 2 : min(interval, .seconds(1)))
    }

    /// Whether to look at the open gates now.
    var isLookDue: Bool { Monotonic.now() >= nextLook }

    /// Takes what the database says about open gates.
    mutating func looked(_ gates: [RejectionGateKey: Bool]?, _ tally: inout RejectionTally) {
        nextLook = Monotonic.deadline(after: interval)
        guard let gates else { return }
        tally.watched = Set(gates.keys)
        waiting = Set(gates.lazy.filter { $0.value }.map(\.key))
    }

    /// Whether to count what is held; seldom, because all of it is read.
    var isCountDue: Bool { Monotonic.now() >= nextCount }

    /// It was counted.
    ///
    /// - Parameters:
    ///   - held: by gateway, those that have some.
    ///   - origins: all gateways on the list.
    /// - Returns: what to show, with zeros for those that had some when this was last called.
    mutating func counted(
        _ held: [String: [HoldCause: Int64]],
        _ origins: [GatewayOrigin]
    ) -> [String: [HoldCause: Int64]] {
        nextCount = Monotonic.deadline(after: interval * 6)
        let shown = shownOrigins.union(held.keys).union(origins.map(\.text))
        shownOrigins = Set(held.keys)
        return Dictionary(uniqueKeysWithValues: shown.map { ($0, held[$0] ?? [:]) })
    }
}
