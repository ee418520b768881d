package import Kafka
package import Postgres
package import Push

/// What a dispatch lane is told; all lanes of a process get the same.
package struct DispatchSettings: Sendable {
    /// Where the broker is, and any librdkafka property of the operator's.
    package var kafka: Kafka.Configuration
    package var database: Postgres.Configuration
    package var topics = TopicCatalogue()

    /// This process, for the record of what it deletes.
    package var instance = "unnamed"
    /// When rejections are believed.
    package var stormGuard = StormGuard.Settings()
    /// How often a lane looks for what is open against pushers; half as often it tells the answers that it has counted.
    package var rejectionLook: Duration = .seconds(5)

    /// Items in one request, from 1 to 100; formats without batches go one by one.
    package var batchItems = BatchFrame.maximumItems
    /// Bytes of one request's body.
    package var batchBytes = BatchFrame.maximumBytes
    /// How long a notification waits for company.
    package var linger: Duration = .milliseconds(5)
    /// From the start of a request to the last byte of its answer.
    ///
    /// Less than 30 s, after which the reference gateway answers 500 by itself when it is stuck: whoever waits so long learns nothing.
    package var requestTimeout: Duration = .seconds(20)
    /// Resolving, connecting and the TLS handshake together.
    package var connectTimeout: Duration = .seconds(5)
    /// Bounds, in-flight limits and breaker; its policy for transient failures is ``schedule``.
    package var outbound = OutboundSettings()
    /// How often a notification is tried.
    package var attempts = RetrySchedule().maximumAttempts
    /// How much longer than its delay a retry may wait, as a share of it, from 0 to 1.
    package var retrySpread = RetrySchedule().spread
    /// Records taken from the retry topics in one poll, from 1.
    package var retryPollLimit = 200
    /// Memory for retries that wait for their time; the rest waits at the broker.
    package var retryShelfBytes = 16 * 1024 * 1024

    /// Whether the topics' settings are asked for; librdkafka's mock cluster never answers that.
    package var asksForTopicSettings = true
    /// Which names a dead letter's headers have.
    package var deadLetterNaming = DeadLetterNaming.own

    /// Records taken in one poll, from 1.
    ///
    /// No more than a processor's own cache holds until they have been looked at.
    package var pollLimit = 100
    /// The longest time for which what has ended is not committed; so much is sent again after a crash.
    package var commitInterval: Duration = .milliseconds(500)
    /// How often the list of gateways is read again.
    package var gatewayRefresh: Duration = .seconds(5)
    /// How often certificate files are looked at.
    package var certificateLook: Duration = .seconds(10)
    /// How long what is under way may take to end when partitions are revoked; the group waits meanwhile.
    package var revocationGrace: Duration = .seconds(3)
    /// How long what is under way may take to end when the process stops.
    package var drainTimeout: Duration = .seconds(20)

    package init(kafka: Kafka.Configuration, database: Postgres.Configuration) {
        self.kafka = kafka
        self.database = database
        // Everything in a lane waits while a statement does.
        self.database.connectTimeout = min(database.connectTimeout, .seconds(1))
        self.database.statementTimeout = min(database.statementTimeout, .seconds(3))
        self.database.cancelGrace = min(database.cancelGrace, .milliseconds(500))
    }

    /// The retry topics and how often a notification goes through them.
    package var schedule: RetrySchedule {
        RetrySchedule(delays: topics.retryDelays, maximumAttempts: attempts, spread: retrySpread)
    }

    /// The engine's settings with the policy.
    var engine: OutboundSettings {
        var engine = outbound
        engine.transient = .retryTopic(schedule)
        return engine
    }

    /// What fits into a request of a format.
    func limits(_ format: NotificationFormat) -> BatchLimits {
        guard format.isBatched else {
            return BatchLimits(
                maximumItems: 1,
                maximumBytes: batchBytes,
                framing: 0,
                itemFraming: 0,
                linger: .zero
            )
        }
        return BatchLimits(
            maximumItems: batchItems,
            maximumBytes: batchBytes,
            framing: BatchFrame.framing,
            itemFraming: BatchFrame.itemFraming,
            linger: linger
        )
    }

    /// What every lane reads notifications with.
    package func consumer() -> Kafka.Configuration { consumer(of: topics.dispatchGroup) }

    /// What every lane reads retry topics with: in small portions, since most of what is fetched has to wait.
    func retryConsumer() -> Kafka.Configuration {
        var configuration = consumer(of: topics.retryGroup)
        for (name, value) in [("fetch.message.max.bytes", "262144"), ("queued.max.messages.kbytes", "4096")]
        where configuration[name] == nil {
            configuration.set(name, value)
        }
        return configuration
    }

    private func consumer(of group: String) -> Kafka.Configuration {
        kafka
            .setting("group.id", group)
            .setting("isolation.level", "read_committed")
            .setting("auto.offset.reset", "earliest")
    }

    /// For dead letters and retry topics, each waited for.
    func producer() -> Kafka.Configuration {
        var configuration = kafka
        // All that the engine holds can be on its way there at once, when a gateway goes away.
        let kilobytes = max(outbound.maximumBytes / 1024 * 2, 32_768)
        for (name, value) in [
            // Nobody waits for these but the next commit, and a gateway that is away makes many of them.
            ("linger.ms", "50"), ("queue.buffering.max.kbytes", "\(kilobytes)"),
            ("queue.buffering.max.messages", "\(max(outbound.maximumRecords * 2, 100_000))"),
            ("compression.type", "lz4"),
            ("partitioner", "murmur2_random"), ("message.max.bytes", "\(TopicCatalogue.deadLetterLimit)"),
            // A topic that is not there is asked for again and again, so that one that is made is found soon.
            ("topic.metadata.refresh.interval.ms", "10000"), ("topic.metadata.propagation.max.ms", "5000"),
            ("message.timeout.ms", "60000"),
            // With more, librdkafka 2.0.2 can take a broker's crash for lost records and end the producer (its pull request 4438).
            ("max.in.flight.requests.per.connection", "1"),
        ] where configuration[name] == nil {
            configuration.set(name, value)
        }
        return configuration
    }
}
