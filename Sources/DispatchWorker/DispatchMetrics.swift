internal import Push
internal import Registrar
package import Telemetry

/// What the dispatch lanes count; all lanes of a process share one.
///
/// The books balance: received = delivered + rejected + dead-lettered + expired + handed over + pusher gone + returned + in flight. What a
/// lane hands over to a retry topic or returns (when partitions are revoked or it stops) is received again by whoever reads on.
package struct DispatchMetrics: Sendable {
    let received: Counter
    package let delivered: Counter
    let rejected: Counter
    package let deadLettered: Counter
    let expired: Counter
    package let handedOver: Counter
    let returned: Counter
    let pusherGone: Counter
    package let retried: Counter
    let shed: Counter
    let transient: Counter
    let unconfirmed: Counter
    let pushersDeleted: Counter
    let pushersKept: Counter
    /// Rejections that were forgotten because messages were taken for their pushers since.
    let rejectionsLapsed: Counter
    let commits: Counter
    let commitFailures: Counter
    private let age: Histogram
    private let anomalies: [Anomaly: Counter]
    private let reasons: [DeadLetterReason: Counter]
    private let verdicts: [RejectionOutcome.Ending: Counter]
    private let inFlight: [Gauge]
    private let lags: [Gauge]
    private let retryLags: [Gauge]
    private let retriesOverdue: [Gauge]
    private let unwritable: [Gauge]
    private let registry: Registry

    /// Oddities in gateways' answers; each is harmless by itself.
    enum Anomaly: String, CaseIterable {
        case unknownID = "unknown_id"
        case missingResult = "missing_result"
        case contradictoryResult = "contradictory_result"
        case unreadableResult = "unreadable_result"
        case unreadableAnswer = "unreadable_answer"
        /// A rejected key that was not the item's; ignored.
        case foreignKey = "foreign_key"
    }

    /// - Parameters:
    ///   - registry: where they are rendered.
    ///   - lanes: how many lanes the process runs.
    package init(_ registry: Registry, lanes: Int) {
        self.registry = registry
        func outcome(_ name: String) -> Counter {
            registry.counter(
                "posthorn_dispatch_notifications_total",
                help: "Notifications by what became of them.",
                labels: ["outcome": name]
            )
        }
        func counter(_ name: String, _ help: String) -> Counter {
            registry.counter("posthorn_dispatch_\(name)_total", help: help)
        }
        received = counter("received", "Notifications taken from the topics, retries included.")
        retried = counter("retried", "Notifications taken from the retry topics when their time had come.")
        shed = counter("shed", "Notifications handed to a retry topic without an attempt.")
        delivered = outcome("delivered")
        rejected = outcome("rejected")
        deadLettered = outcome("dead_lettered")
        expired = outcome("expired")
        handedOver = outcome("handed_over")
        returned = outcome("returned")
        pusherGone = outcome("pusher_gone")
        transient = counter("transient", "Attempts that failed and may go well later.")
        unconfirmed = counter(
            "unconfirmed",
            "Dead letters, hand-overs and deletions that had to be repeated."
        )
        pushersDeleted = counter("pushers_deleted", "Pushers deleted because their gateway rejected the key.")
        pushersKept = counter("pushers_kept", "Rejections of pushers that were gone or registered anew.")
        rejectionsLapsed = counter(
            "rejections_lapsed",
            "Rejections that were forgotten because messages were taken for their pushers since."
        )
        verdicts = Dictionary(
            uniqueKeysWithValues: RejectionOutcome.Ending.allCases.map { ending in
                let help = "Rejected messages by what became of the rejection."
                let labels: Labels = ["verdict": ending.rawValue]
                return (
                    ending,
                    registry.counter("posthorn_dispatch_rejections_total", help: help, labels: labels)
                )
            }
        )
        commits = counter("commits", "Commits of offsets.")
        commitFailures = counter("commit_failures", "Commits of offsets that failed and were repeated.")
        age = registry.histogram(
            "posthorn_dispatch_age_seconds",
            help: "From a notification's record to its answer; the oldest of each request.",
            buckets: Buckets.ages
        )
        func perLane(_ name: String, _ help: String) -> [Gauge] {
            (0..<lanes).map {
                registry.gauge("posthorn_dispatch_\(name)", help: help, labels: ["lane": "\($0)"])
            }
        }
        inFlight = perLane("in_flight", "Notifications that a lane holds.")
        lags = perLane(
            "lag",
            "Notifications not yet read, over the partitions of a lane; those that wait for a retry not among them."
        )
        retryLags = perLane(
            "retry_lag",
            "Notifications that wait in the retry topics, over the partitions of a lane."
        )
        retriesOverdue = perLane(
            "retry_overdue_seconds",
            "For how long the retry that is due for longest has been due."
        )
        unwritable = perLane(
            "unwritable",
            "1 while dead letters or retries cannot be written, so that commits stand still."
        )
        anomalies = Self.series(registry, "anomalies", "Oddities in gateways' answers.", "kind")
        reasons = Self.series(registry, "dead_letters", "Dead letters by reason.", "reason")
    }

    private static func series<Key: RawRepresentable & CaseIterable & Hashable>(
        _ registry: Registry,
        _ name: String,
        _ help: String,
        _ label: String
    ) -> [Key: Counter] where Key.RawValue == String {
        Dictionary(
            uniqueKeysWithValues: Key.allCases.map { key in
                let labels: Labels = [label: key.rawValue]
                return (key, registry.counter("posthorn_dispatch_\(name)_total", help: help, labels: labels))
            }
        )
    }

    func inFlight(ofLane lane: Int) -> Gauge? { inFlight.indices.contains(lane) ? inFlight[lane] : nil }

    func lag(ofLane lane: Int) -> Gauge? { lags.indices.contains(lane) ? lags[lane] : nil }

    func retryLag(ofLane lane: Int) -> Gauge? { retryLags.indices.contains(lane) ? retryLags[lane] : nil }

    func retryOverdue(ofLane lane: Int) -> Gauge? {
        retriesOverdue.indices.contains(lane) ? retriesOverdue[lane] : nil
    }

    func unwritable(ofLane lane: Int) -> Gauge? { unwritable.indices.contains(lane) ? unwritable[lane] : nil }

    /// Counts a retry whose pusher is gone.
    func droppedForPusher() {
        received.increment()
        pusherGone.increment()
    }

    func anomaly(_ anomaly: Anomaly, _ count: Int = 1) {
        if count > 0 { anomalies[anomaly]?.add(count) }
    }

    /// Notes how old the oldest notification of an answered request was.
    func delivered(age duration: Duration) { age.observe(duration) }

    /// Counts a dead letter that is written.
    func buried(_ reason: DeadLetterReason) {
        reasons[reason]?.increment()
        (reason == .expired ? expired : deadLettered).increment()
    }

    func rejections(_ ending: RejectionOutcome.Ending, _ count: Int) { verdicts[ending]?.add(count) }

    /// Notes how many rejections are held for a gateway's pushers; all processes say the same.
    func held(_ origin: String, _ counts: [HoldCause: Int64]) {
        for cause in HoldCause.allCases {
            registry.gauge(
                "posthorn_dispatch_rejections_held",
                help:
                    "Rejections held back for an operator, by gateway and cause; the same from every process.",
                labels: ["gateway": origin, "cause": cause.rawValue]
            ).set(Int(clamping: counts[cause] ?? 0))
        }
    }

    /// Counts what the engine has counted since `before`.
    func add(_ now: OutboundCounters, since before: OutboundCounters) {
        received.add(now.enqueued - before.enqueued)
        delivered.add(now.accepted - before.accepted)
        returned.add(now.givenBack - before.givenBack)
        transient.add(now.transient - before.transient)
        unconfirmed.add(now.unconfirmed - before.unconfirmed)
        shed.add(now.shed - before.shed)
        anomaly(.unknownID, now.unknownIDs - before.unknownIDs)
        anomaly(.missingResult, now.missingResults - before.missingResults)
        anomaly(.contradictoryResult, now.contradictoryResults - before.contradictoryResults)
        anomaly(.unreadableAnswer, now.unreadableAnswers - before.unreadableAnswers)
    }

    /// What is counted of one gateway.
    func gateway(_ origin: String) -> GatewayMetrics { GatewayMetrics(registry, origin) }
}
