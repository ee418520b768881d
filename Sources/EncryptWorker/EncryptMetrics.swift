internal import Push
package import Telemetry

/// What the encrypt lanes count; all lanes of a process share one.
///
/// The books balance: events in = sealed for someone + without subscriber + expired + dead-lettered, and
/// notifications out = subscribed pushers − those without keys.
package struct EncryptMetrics: Sendable {
    package let received: Counter
    let withSubscribers: Counter
    package let withoutSubscribers: Counter
    let expired: Counter
    package let notifications: Counter
    let withoutKeys: Counter
    package let chainsMoved: Counter
    let turns: Counter
    let aborted: Counter
    let rewound: Counter
    let batchSize: Histogram
    let lookupSeconds: Histogram
    let commitSeconds: Histogram
    let age: Histogram
    private let lags: [Gauge]
    private let deadLetters: [DeadLetterReason: Counter]

    /// Registers every series, so that each shows as zero before it counts; `lanes` is how many lanes the process runs.
    package init(_ registry: Registry, lanes: Int) {
        func events(_ outcome: String) -> Counter {
            registry.counter(
                "posthorn_encrypt_events_total",
                help: "Trigger events by what became of them.",
                labels: ["outcome": outcome]
            )
        }
        received = registry.counter(
            "posthorn_encrypt_received_total",
            help: "Trigger records whose batch was committed."
        )
        withSubscribers = events("sealed")
        withoutSubscribers = events("no_subscriber")
        expired = events("expired")
        notifications = registry.counter(
            "posthorn_encrypt_notifications_total",
            help: "Notifications sealed and committed."
        )
        withoutKeys = registry.counter(
            "posthorn_encrypt_pushers_without_keys_total",
            help:
                "Subscribed pushers that got nothing, having no key chain on a channel that sends nothing in plain."
        )
        chainsMoved = registry.counter(
            "posthorn_encrypt_chains_moved_total",
            help: "Key chains moved to a new month."
        )
        turns = registry.counter("posthorn_encrypt_turns_total", help: "Batches committed.")
        aborted = registry.counter(
            "posthorn_encrypt_aborted_total",
            help: "Kafka transactions aborted and repeated."
        )
        rewound = registry.counter(
            "posthorn_encrypt_rewound_total",
            help: "Batches put back because the database was away."
        )
        batchSize = registry.histogram(
            "posthorn_encrypt_batch_events",
            help: "Trigger records in a batch.",
            buckets: Buckets.counts
        )
        lookupSeconds = registry.histogram(
            "posthorn_encrypt_lookup_seconds",
            help: "Time of a batch's lookup."
        )
        commitSeconds = registry.histogram(
            "posthorn_encrypt_commit_seconds",
            help: "Time of a batch's Kafka commit."
        )
        age = registry.histogram(
            "posthorn_encrypt_event_age_seconds",
            help: "From an event's time to its batch's commit.",
            buckets: Buckets.ages
        )
        lags = (0..<lanes).map { lane in
            registry.gauge(
                "posthorn_encrypt_lag",
                help: "Trigger records not yet read, over the partitions of a lane.",
                labels: ["lane": "\(lane)"]
            )
        }
        deadLetters = Dictionary(
            uniqueKeysWithValues: DeadLetterReason.allCases.map { reason in
                (
                    reason,
                    registry.counter(
                        "posthorn_encrypt_dead_letters_total",
                        help: "Trigger records put on the dead-letter topic, by reason.",
                        labels: ["reason": reason.rawValue]
                    )
                )
            }
        )
    }

    func lag(ofLane lane: Int) -> Gauge? { lags.indices.contains(lane) ? lags[lane] : nil }

    func deadLetter(_ reason: DeadLetterReason) { deadLetters[reason]?.increment() }
}
