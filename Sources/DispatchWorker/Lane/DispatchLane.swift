internal import HTTPClient
internal import Kafka
package import Lanes
internal import Push
internal import Registrar
package import Telemetry

/// One lane that brings notifications to their gateways, at least once and each with the same id however often.
///
/// ```
///                  ┌───────────────────────────────────────────────────────────────────────────┐
///                  ▼                                                                           │
///   read new ────▶ engine ─▶ send | write dead letter or retry | delete pusher ─▶ commit ─▶ wait ─▶ answers, writes
///   read retries ──┘                                                               └─ the only place where the lane waits:
///                                                                       for gateways, Kafka and what comes due next
/// ```
///
/// 1. An offset is committed once its record and all before it have ended: delivered, pusher deleted, dead letter or retry written.
/// 2. What ends a record is durable first: a dead letter or retry is confirmed by the broker, a deletion by the database. What cannot be
///    done is tried again and holds its partition's commits; nothing is dropped.
/// 3. The broker, the database or a gateway being away ends nothing. Without the database retries wait, and the list of gateways stays.
/// 4. Every queue has a bound; at the bounds partitions are not read, while polling goes on.
///
/// It owns all that it touches and lives on one thread.
package struct DispatchLane: ~Copyable {
    let settings: DispatchSettings
    let context: LaneContext
    let metrics: DispatchMetrics
    let log: Log
    let names: TopicNames
    var live: Inlet
    var retries: Inlet
    var topics: TopicWatch
    var writer: DeadLetterWriter
    var transport: GatewayTransport
    var database: DatabaseSession
    var engine: OutboundEngine<Outgoing>
    var gateways: GatewayBook
    var health: LaneHealth
    var routes = RouteTable()
    var reader = NotificationRecordReader()
    var rejections: RejectionDesk
    var shelf = RetryShelf()
    var check = PusherCheck()
    /// When to look again at what is due, if it had no room.
    var nextRelease = Duration.zero
    /// Topics for dead letters and retries that could not be written to lately.
    var unwritable: Set<String> = []

    /// Since when the engine takes nothing, in monotonic nanoseconds.
    var fullSince: Int64?
    var isDraining = false
    var nextRefresh: Int64 = 0
    var nextCommit: Int64 = 0
    var nextReport: Int64 = 0
    var counted = OutboundCounters()

    /// Runs a lane until it is told to stop and has drained.
    ///
    /// - Throws: ``DispatchError`` when only a restart or a person can help.
    package static func run(
        _ settings: DispatchSettings,
        context: LaneContext,
        metrics: DispatchMetrics,
        log: Log
    ) throws(DispatchError) {
        let wakeup = try system { () throws(LaneError) in try Wakeup() }
        // librdkafka writes to the descriptor until the lane's clients are gone, so it outlives the lane.
        try run(settings, context, metrics, log, wakeup)
    }

    private static func run(
        _ settings: DispatchSettings,
        _ context: LaneContext,
        _ metrics: DispatchMetrics,
        _ log: Log,
        _ wakeup: borrowing Wakeup
    ) throws(DispatchError) {
        var lane = try DispatchLane(settings, context, metrics, log, wakeup)
        guard try lane.start() else { return }
        while !lane.engine.isDrained { try lane.turn(wakeup) }
        lane.leave()
    }

    private init(
        _ settings: DispatchSettings,
        _ context: LaneContext,
        _ metrics: DispatchMetrics,
        _ log: Log,
        _ wakeup: borrowing Wakeup
    ) throws(DispatchError) {
        let descriptor = wakeup.descriptor
        let grace = settings.revocationGrace
        let live = try Self.kafka { () throws(KafkaError) in
            try Inlet(settings.consumer(), grace: grace, log: log)
        }
        let retries = try Self.kafka { () throws(KafkaError) in
            try Inlet(settings.retryConsumer(), grace: grace, log: log)
        }
        let topics = try Self.kafka { () throws(KafkaError) in
            try TopicWatch(settings, TopicNames(settings), log)
        }
        let writer = try Self.kafka { () throws(KafkaError) in
            try DeadLetterWriter(settings.producer(), settings.deadLetterNaming, wakeup: descriptor)
        }
        let transport = try Self.http { () throws(ClientError) in try GatewayTransport(settings, metrics) }
        self.live = live
        self.retries = retries
        self.topics = topics
        self.writer = writer
        self.transport = transport
        database = DatabaseSession(settings.database)
        engine = OutboundEngine(settings.engine, seed: UInt64(truncatingIfNeeded: Monotonic.now()))
        gateways = GatewayBook(lookInterval: settings.certificateLook)
        health = LaneHealth(context)
        rejections = RejectionDesk(
            RejectionLedger(StormGuard(settings.stormGuard), who: "dispatch/\(settings.instance)"),
            interval: settings.rejectionLook
        )
        self.settings = settings
        names = TopicNames(settings)
        self.context = context
        self.metrics = metrics
        self.log = log
        self.live.consumer.wake(descriptor)
        self.retries.consumer.wake(descriptor)
    }

    /// Waits until the list of gateways is known and no topic loses records by its settings, and joins the groups.
    ///
    /// - Returns: false when told to stop meanwhile.
    private mutating func start() throws(DispatchError) -> Bool {
        while !gateways.isKnown {
            refreshGateways()
            if !gateways.isKnown, context.pause(for: .milliseconds(250)) { return false }
        }
        while !topics.areFit(&health) {
            if context.pause(for: .milliseconds(1000)) { return false }
        }
        do throws(KafkaError) {
            try live.consumer.subscribe([names.notifications])
            try retries.consumer.subscribe(names.retries + topics.leftOver)
        } catch {
            throw .kafka(error)
        }
        return true
    }

    // MARK: - A turn

    private mutating func turn(_ wakeup: borrowing Wakeup) throws(DispatchError) {
        context.turn()
        wakeup.clear()
        var now = Now.now()
        if context.stop.isRaised { beginDrain(now) }
        if Monotonic.now() >= nextRefresh { refreshGateways() }
        lookAtRejections()
        try read(now)
        try readRetries(now)
        settleWrites(now)
        engine.tick(now: now)
        try act(now)
        try completeRevocations()
        try commitIfDue()
        report()
        try wait(for: wakeup.descriptor, from: now)
        now = .now()
        transport.settle(&engine, now)
        // Before the next reading: what is asked for there goes by what the engine wants now.
        try act(now)
    }

    private mutating func wait(for descriptor: Int32, from now: Now) throws(DispatchError) {
        // The stop flag and the lane's own clockwork are looked at so often.
        var limit = Duration.milliseconds(100)
        if let deadline = engine.nextDeadline { limit = min(limit, deadline - now.monotonic) }
        if let due = shelf.nextDue(after: now.wall) { limit = min(limit, due.since(now.wall)) }
        if live.hasMore || retries.hasMore || engine.isDrained { limit = .zero }
        do throws(ClientError) {
            try transport.wait(upTo: max(limit, .zero), also: descriptor)
        } catch {
            throw .http(error)
        }
    }

    // MARK: - The end

    private mutating func beginDrain(_ now: Now) {
        guard !isDraining else { return }
        live.noteMarkers(engine)
        isDraining = true
        log.info("draining_lane", ["in_flight": .integer(engine.recordCount)])
        engine.beginDrain(until: now.monotonic + settings.drainTimeout, now: now)
        shelf.removeAll()
        live.book.wantNone()
        live.applyPauses()
        retries.book.wantNone()
        retries.applyPauses()
    }

    /// Commits what has ended and leaves the group.
    private mutating func leave() {
        transport.settle(&engine, .now())
        settleRejections(.now(), atOnce: true)
        noteProgress()
        live.commit(within: .seconds(3), metrics)
        retries.commit(within: .seconds(3), metrics)
        report()
        routes.forgetAll()
        live.consumer.close(within: .seconds(5))
        retries.consumer.close(within: .seconds(5))
    }

    // MARK: - Errors by module

    private static func system<R: ~Copyable>(
        _ body: () throws(LaneError) -> R
    ) throws(DispatchError) -> R {
        do throws(LaneError) { return try body() } catch { throw .system(error) }
    }

    static func kafka<R: ~Copyable>(_ body: () throws(KafkaError) -> R) throws(DispatchError) -> R {
        do throws(KafkaError) { return try body() } catch { throw .kafka(error) }
    }

    private static func http<R: ~Copyable>(
        _ body: () throws(ClientError) -> R
    ) throws(DispatchError) -> R {
        do throws(ClientError) { return try body() } catch { throw .http(error) }
    }
}

extension Now {
    /// Both clocks.
    static func now() -> Now {
        Now(
            monotonic: .nanoseconds(Monotonic.now()),
            wall: Timestamp(milliseconds: WallClock.milliseconds())
        )
    }
}
