internal import HTTPClient
internal import Kafka
package import Lanes
internal import Push
internal import Registrar
package import Telemetry

/// One lane that brings notifications to their gateways, at least once and each with the same id however often.
///
/// ```
///           ┌───────────────────────────────────────────────────────────────────────────┐
///           ▼                                                                           │
///   read ─▶ engine ─▶ send | write dead letter | delete pusher ─▶ commit ─▶ wait ─▶ answers, writes ─▶ engine
///                                                                   └─ the only place where the lane waits: for
///                                                                      gateways, Kafka and the engine's next deadline
/// ```
///
/// 1. An offset is committed once its record and all before it have ended: delivered, its pusher deleted, or its dead letter written.
/// 2. What ends a record is durable first: a dead letter is confirmed by the broker, a deletion by the database. What cannot be done is
///    tried again and holds its partition's commits; nothing is dropped.
/// 3. The broker, the database or a gateway being away ends nothing. Without the database the lane goes on by the list that it has.
/// 4. Every queue has a bound; at the bounds partitions are not read, while polling goes on.
///
/// It owns all that it touches and lives on one thread.
package struct DispatchLane: ~Copyable {
    let settings: DispatchSettings
    let context: LaneContext
    let metrics: DispatchMetrics
    let log: Log
    var consumer: Consumer
    var writer: DeadLetterWriter
    var transport: GatewayTransport
    var database: DatabaseSession
    var engine: OutboundEngine<Outgoing>
    var gateways: GatewayBook
    var health: LaneHealth
    var routes = RouteTable()
    var book = PartitionBook()
    var reader = NotificationRecordReader()
    var rejections = RejectionApplier()
    var offsets = OffsetBook()

    var records: [Record] = []
    /// The last poll left something over.
    var hasMore = false
    /// Since when the engine takes nothing, in monotonic nanoseconds.
    var fullSince: Int64?
    var revocation: Revocation?
    var isDraining = false
    var nextRefresh: Int64 = 0
    var nextCommit: Int64 = 0
    var nextReport: Int64 = 0
    private var counted = OutboundCounters()

    /// Partitions that are to be given back as soon as what is under way has ended.
    struct Revocation {
        var places: [TopicPartition]
        var deadline: Int64
    }

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
        let consumer = try Self.kafka { () throws(KafkaError) in try Consumer(settings.consumer()) }
        let writer = try Self.kafka { () throws(KafkaError) in
            try DeadLetterWriter(settings.producer(), wakeup: descriptor)
        }
        let transport = try Self.http { () throws(ClientError) in try GatewayTransport(settings, metrics) }
        self.consumer = consumer
        self.writer = writer
        self.transport = transport
        database = DatabaseSession(settings.database)
        engine = OutboundEngine(settings.outbound, seed: UInt64(truncatingIfNeeded: Monotonic.now()))
        gateways = GatewayBook(lookInterval: settings.certificateLook)
        health = LaneHealth(context)
        self.settings = settings
        self.context = context
        self.metrics = metrics
        self.log = log
        self.consumer.wake(descriptor)
    }

    /// Waits until the list of gateways is known, and joins the group.
    ///
    /// - Returns: false when told to stop meanwhile.
    private mutating func start() throws(DispatchError) -> Bool {
        while !gateways.isKnown {
            refreshGateways()
            if !gateways.isKnown, context.pause(for: .milliseconds(250)) { return false }
        }
        do throws(KafkaError) {
            try consumer.subscribe([settings.topics.notifications])
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
        try read(now)
        settleWrites(now)
        engine.tick(now: now)
        try act(now)
        try completeRevocation(now)
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
        if hasMore || engine.isDrained { limit = .zero }
        do throws(ClientError) {
            try transport.wait(upTo: max(limit, .zero), also: descriptor)
        } catch {
            throw .http(error)
        }
    }

    /// Reads the list of gateways again; without the database the old one stays.
    mutating func refreshGateways() {
        guard database.isWorthTrying else { return }
        nextRefresh = Monotonic.deadline(after: settings.gatewayRefresh)
        do throws(RegistrarError) {
            try gateways.refresh(from: &database)
        } catch {
            log.warning("database_away", ["error": .description(of: error)])
        }
        health.set(.databaseAway, !gateways.isKnown)
    }

    private mutating func report() {
        metrics.add(engine.counters, since: counted)
        counted = engine.counters
        metrics.inFlight(ofLane: context.index)?.set(engine.recordCount)
        let now = Monotonic.now()
        guard now >= nextReport else { return }
        nextReport = now + 1_000_000_000
        for trouble in writer.takeTroubles() {
            log.warning("producer_trouble", ["error": .description(of: trouble)])
        }
        guard let lag = try? consumer.lag(book.all) else { return }
        metrics.lag(ofLane: context.index)?.set(Int(lag.values.reduce(0, +)))
    }

    // MARK: - The end

    private mutating func beginDrain(_ now: Now) {
        guard !isDraining else { return }
        noteMarkers()
        isDraining = true
        log.info("draining_lane", ["in_flight": .integer(engine.recordCount)])
        engine.beginDrain(until: now.monotonic + settings.drainTimeout, now: now)
        book.wantNone()
        applyPauses()
    }

    /// Commits what has ended and leaves the group.
    private mutating func leave() {
        transport.settle(&engine, .now())
        offsets.note(engine.takeProgress(), book)
        commit(within: .seconds(3))
        report()
        consumer.close(within: .seconds(5))
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
