internal import EncryptWorker
internal import Intake
internal import Kafka
internal import Lanes
internal import Push
internal import Telemetry

/// The health service: publishes events evenly over time, but never more than the pipeline has room for.
///
/// What is published and not yet opened is bounded: the mock cluster drops what no longer fits into its logs, and an unbounded backlog would
/// say nothing about latency. One thread's own.
struct EventSource: ~Copyable {
    /// Notifications on their way, and events not looked up yet, at most.
    ///
    /// The mock cluster keeps 5 MiB of a partition, some 2,500 notifications; in the worst case all are for one device, in one partition.
    static let bound = 2000

    private let script: Script
    private let ledger: Ledger
    private let metrics: EncryptMetrics
    private var publisher: Publisher

    init(
        _ script: Script,
        to topic: String,
        on kafka: Kafka.Configuration,
        ledger: Ledger,
        metrics: EncryptMetrics
    ) throws(DemoError) {
        self.script = script
        self.ledger = ledger
        self.metrics = metrics
        do throws(KafkaError) {
            publisher = try Publisher(kafka, topic: topic)
        } catch {
            throw .notPublished(.kafka(error))
        }
    }

    /// Publishes `count` events, `rate` a second, from when `start` is raised until told to stop.
    ///
    /// - Throws: ``DemoError/notPublished(_:)`` if the broker did not take one.
    mutating func run(
        _ count: Int,
        rate: Int,
        from start: StopFlag,
        _ context: LaneContext
    ) throws(DemoError) {
        context.ready()
        // Meanwhile the producer finds its broker, which would be counted as latency otherwise.
        while !start.isRaised, !context.stop.isRaised {
            context.turn()
            try settle(.milliseconds(10))
        }
        var pace = Pace(rate: rate, from: .now)
        for number in 0..<count {
            let due = ContinuousClock.now + pace.wait(at: .now)
            try wait(until: due, context)
            if context.stop.isRaised { break }
            try publish(number)
        }
        while publisher.inFlight > 0 {
            context.turn()
            try settle(.milliseconds(100))
        }
    }

    private mutating func publish(_ number: Int) throws(DemoError) {
        let now = Timestamp(milliseconds: WallClock.milliseconds())
        ledger.publish(owedTo: script.owed(number), at: Monotonic.now())
        do throws(PublishError) {
            try publisher.publish(script.line(number, now: now), number: number + 1, now: now)
        } catch {
            throw .notPublished(error)
        }
    }

    /// Waits for the time and for room, and serves delivery reports meanwhile.
    private mutating func wait(
        until due: ContinuousClock.Instant,
        _ context: LaneContext
    ) throws(DemoError) {
        while !context.stop.isRaised {
            context.turn()
            let left = due - .now
            guard left > .zero || !hasRoom else { return }
            try settle(min(max(left, .milliseconds(1)), .milliseconds(20)))
        }
    }

    private var hasRoom: Bool {
        ledger.underWay < Self.bound
            && ledger.publishedCount - Int(clamping: metrics.received.value) < Self.bound
    }

    private mutating func settle(_ limit: Duration) throws(DemoError) {
        publisher.settle(waiting: limit)
        if let failure = publisher.takeFailures().first { throw .notPublished(.kafka(failure.error)) }
    }
}
