internal import Kafka
internal import Lanes
internal import Push
internal import Telemetry

/// One consumer of a lane, with what the lane knows about its partitions and has to commit for them.
///
/// A lane has two, in groups of their own: one reads the notifications, the other the retry topics. So a rebalance of one does not stop
/// the other, and the lag of the first is what has not been sent yet, and nothing that waits.
struct Inlet: ~Copyable {
    /// Partitions that are to be given back as soon as what is under way of them has ended.
    struct Revocation {
        var places: [TopicPartition]
        var deadline: Int64
    }

    let group: String
    var consumer: Consumer
    var book = PartitionBook()
    var offsets = OffsetBook()
    /// What the last poll brought.
    var records: [Record] = []
    /// The last poll left something over.
    var hasMore = false
    private(set) var revocation: Revocation?
    /// Whether the brokers have refused to let this be read, until something of it comes.
    private(set) var isDenied = false
    /// Whether the last commit failed.
    private(set) var isCommitFailing = false
    private let grace: Duration
    private let log: Log

    init(_ configuration: Kafka.Configuration, grace: Duration, log: Log) throws(KafkaError) {
        group = configuration["group.id"] ?? ""
        consumer = try Consumer(configuration)
        self.grace = grace
        self.log = log
    }

    // MARK: - Reading

    /// Polls once into ``records``; the caller empties it.
    ///
    /// - Returns: what else happened, already taken note of.
    mutating func poll(
        limit: Int,
        _ engine: inout OutboundEngine<Outgoing>,
        isDraining: Bool
    ) throws(KafkaError) -> [ConsumerEvent] {
        let events = try consumer.poll(into: &records, limit: limit, wait: .zero)
        for event in events { note(event, &engine, isDraining) }
        if !records.isEmpty { isDenied = false }
        return events
    }

    /// Tells librdkafka which partitions to read; a refusal leaves them as they are, which costs memory and nothing else.
    mutating func applyPauses() {
        let changes = book.takeChanges()
        do throws(KafkaError) {
            if !changes.pause.isEmpty { try consumer.pause(changes.pause) }
            if !changes.resume.isEmpty { try consumer.resume(changes.resume) }
        } catch {
            log.warning("pause_failed", ["error": .description(of: error)])
        }
    }

    // MARK: - Partitions

    private mutating func note(
        _ event: ConsumerEvent,
        _ engine: inout OutboundEngine<Outgoing>,
        _ isDraining: Bool
    ) {
        switch event {
        case .assigned(let places):
            if !places.isEmpty { isDenied = false }
            for place in places { book.add(place, as: engine.assign()) }
            if isDraining { book.wantNone() }
            log.info("assigned", ["partitions": .integer(places.count), "group": .text(group)])
        case .revoked(let places):
            log.info("revoked", ["partitions": .integer(places.count), "group": .text(group)])
            for place in places {
                if let partition = book[place] { engine.relinquish(partition) }
            }
            revocation = Revocation(places: places, deadline: Monotonic.deadline(after: grace))
        case .lost(let places):
            log.warning("lost", ["partitions": .integer(places.count), "group": .text(group)])
            revocation = Revocation(places: places, deadline: 0)
        case .failed(let error, _):
            if error.isRightMissing { isDenied = true }
            log.warning("consumer_trouble", ["error": .description(of: error)])
        }
    }

    /// Gives revoked partitions back once what was under way of them has ended, or when it has taken too long.
    ///
    /// What still is under way then is abandoned: whoever reads the partition next sends it again, with the same id.
    ///
    /// - Returns: whether partitions went.
    mutating func completeRevocation(
        _ engine: inout OutboundEngine<Outgoing>,
        _ metrics: DispatchMetrics
    ) throws(KafkaError) -> Bool {
        guard let revocation else { return false }
        let isLost = consumer.isAssignmentLost || revocation.deadline == 0
        let isSettled = revocation.places.allSatisfy { place in
            book[place].map { engine.recordCount(of: $0) == 0 } ?? true
        }
        guard isLost || isSettled || Monotonic.now() >= revocation.deadline else { return false }
        self.revocation = nil
        if !isLost { commit(within: .seconds(3), metrics) }
        // A pause would outlive the revocation, but not the lane's memory of it.
        book.wantAll()
        applyPauses()
        for place in revocation.places {
            if let partition = book.remove(place) { engine.revoke(partition) }
            offsets.forget(place)
        }
        try consumer.completeRebalance()
        return true
    }

    // MARK: - Commits

    /// Moves the offsets to commit past the transaction markers behind the last record of a partition.
    ///
    /// Nobody is handed a marker, so no record that ends moves past it, and a group that has done all its work would look behind for ever.
    /// Only where the engine has taken whatever was handed out: not while it drains, and not in a rebalance.
    mutating func noteMarkers(_ engine: borrowing OutboundEngine<Outgoing>) {
        guard revocation == nil, !consumer.isRebalancePending else { return }
        var idle: [TopicPartition] = []
        for place in book.all {
            if let partition = book[place], engine.isIdle(partition) { idle.append(place) }
        }
        guard !idle.isEmpty, let positions = try? consumer.position(idle) else { return }
        offsets.note(
            positions.compactMap { place, offset in book[place].map { (partition: $0, offset: offset) } },
            book
        )
    }

    /// Commits what has ended; what cannot be committed now is tried again with the next commit.
    mutating func commit(within timeout: Duration, _ metrics: DispatchMetrics) {
        guard !offsets.isEmpty else {
            isCommitFailing = false
            return
        }
        do throws(KafkaError) {
            try consumer.commit(offsets.offsets, timeout: timeout)
            offsets.markCommitted()
            metrics.commits.increment()
            isCommitFailing = false
        } catch {
            metrics.commitFailures.increment()
            log.warning("commit_failed", ["error": .description(of: error), "group": .text(group)])
            // The others of the group have them; the consumer will say so.
            isCommitFailing = !error.isStaleMember
        }
    }
}
