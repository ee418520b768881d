internal import Kafka
package import Lanes
internal import Postgres
internal import Push
internal import Sealing
package import Telemetry

/// One lane that turns trigger events into sealed notifications, exactly once.
///
/// ```
///            ┌────────────────────────────────────────────────────────────────┐
///            ▼                                                                │
///   poll ─▶ sort ─▶ ask the database ─▶ begin ─▶ produce ─▶ write back ─▶ commit with offsets
///                        │                 └────────┬──────────┴───────────┘
///                        │ database away            │ anything fails: abort
///                        └──────────▶ put back ◀────┘
/// ```
///
/// 1. The offsets are committed with the outputs or not at all, and outputs of an aborted turn are invisible to `read_committed` readers.
/// 2. Moved key chains are in the database before the Kafka commit. A crash in between repeats the batch, and the same steps give the same keys.
/// 3. A batch that was not committed is read again from its first record: if going back fails, the lane ends rather than go on behind it.
/// 4. Nothing but the record itself makes a dead letter. While the database or the broker is away the lane waits and stays in its group.
///
/// It owns all that it touches, lives on one thread, and stops within a turn of being told to.
package struct EncryptLane: ~Copyable {
    let settings: EncryptSettings
    let context: LaneContext
    let metrics: EncryptMetrics
    let log: Log
    var consumer: Consumer
    var producer: Producer
    var connection: Connection
    var builder: NotificationBuilder
    var lookup: SubscriptionLookup
    var batch = TriggerBatch()
    var isTransactionOpen = false
    /// Grows while the same trouble lasts.
    var pause = Duration.zero
    var lookedAround: Int64 = 0
    /// How far the group is in the partitions of which nothing is under way; see ``commitMarkers()``.
    var settled: [TopicPartition: Int64] = [:]
    let notificationsTopic: String

    /// Runs a lane until it is told to stop.
    ///
    /// - Throws: ``EncryptError`` when only a restart or a person can help; what was not committed is then read again by whoever comes next.
    package static func run(
        _ settings: EncryptSettings,
        context: LaneContext,
        metrics: EncryptMetrics,
        log: Log
    ) throws(EncryptError) {
        var lane = try EncryptLane(settings, context: context, metrics: metrics, log: log)
        guard try lane.start() else { return }
        while !context.stop.isRaised {
            context.turn()
            try lane.turn()
        }
        lane.consumer.close()
    }

    private init(
        _ settings: EncryptSettings,
        context: LaneContext,
        metrics: EncryptMetrics,
        log: Log
    ) throws(EncryptError) {
        let builder = try Self.builder(settings)
        let consumer = try Self.consumer(settings)
        let producer = try Self.producer(settings, lane: context.index)
        self.settings = settings
        self.context = context
        self.metrics = metrics
        self.log = log
        self.builder = builder
        self.consumer = consumer
        self.producer = producer
        connection = Connection(settings.database)
        lookup = SubscriptionLookup(zone: settings.zone)
        notificationsTopic = settings.topics.notifications
    }

    private static func builder(_ settings: EncryptSettings) throws(EncryptError) -> NotificationBuilder {
        do throws(SealingError) {
            return try NotificationBuilder(keys: try KeyFile.read(settings.keyFile))
        } catch {
            throw .sealing(error)
        }
    }

    private static func consumer(_ settings: EncryptSettings) throws(EncryptError) -> Consumer {
        do throws(KafkaError) {
            return try Consumer(settings.consumer())
        } catch {
            throw .kafka(error)
        }
    }

    private static func producer(_ settings: EncryptSettings, lane: Int) throws(EncryptError) -> Producer {
        do throws(KafkaError) {
            return try Producer(settings.producer(lane: lane))
        } catch {
            throw .kafka(error)
        }
    }

    /// Takes over the transactional id, which ends what a dead predecessor left open, and joins the group.
    ///
    /// - Returns: false when told to stop meanwhile.
    private mutating func start() throws(EncryptError) -> Bool {
        context.notReady("starting")
        while true {
            do throws(KafkaError) {
                try producer.initTransactions(timeout: .seconds(5))
                try consumer.subscribe([settings.topics.triggers])
                return true
            } catch {
                guard error.isRetriable else { throw failure(error) }
                context.notReady("kafka_away")
                tellTroubles()
                log.warning("kafka_away", ["operation": "start", "error": .description(of: error)])
                if context.pause(for: .milliseconds(200)) { return false }
            }
        }
    }

    // MARK: - A turn

    private mutating func turn() throws(EncryptError) {
        batch.removeAll()
        try poll(wait: .milliseconds(100))
        let isIdle = batch.records.isEmpty
        do throws(EncryptError) {
            try lookAround(isIdle: isIdle)
            guard !isIdle else { return }
            try process()
            pause = .zero
            // What was said not to work may have come back in the middle of the turn.
            context.ready()
        } catch {
            try recover(from: error)
        }
    }

    /// Reads into the batch and answers what happened to the assignment.
    ///
    /// Between turns nothing is in flight, so a revoked partition is simply let go.
    mutating func poll(wait: Duration) throws(EncryptError) {
        do throws(KafkaError) {
            let events = try consumer.poll(
                into: &batch.records,
                limit: settings.batchLimit,
                wait: wait,
                linger: settings.linger
            )
            for event in events { note(event) }
            if consumer.isRebalancePending {
                batch.removeAll()
                try consumer.completeRebalance()
            }
        } catch {
            throw failure(error)
        }
    }

    private mutating func note(_ event: ConsumerEvent) {
        switch event {
        case .assigned(let places):
            settled.removeAll()
            context.ready()
            log.info("assigned", ["partitions": .integer(places.count)])
        case .revoked(let places):
            settled.removeAll()
            log.info("revoked", ["partitions": .integer(places.count)])
        case .lost(let places):
            settled.removeAll()
            log.warning("lost", ["partitions": .integer(places.count)])
        case .failed(let error, _):
            if error.isUnknownTopic { context.notReady("topic_missing") }
            if error.isRightMissing { context.notReady("right_missing") }
            log.warning("consumer_trouble", ["error": .description(of: error)])
        }
    }
}
