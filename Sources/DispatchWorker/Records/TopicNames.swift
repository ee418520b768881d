internal import Push

/// The names of the topics, put together once: a lane looks them up for every record.
struct TopicNames {
    let notifications: String
    let deadLetters: String
    /// One per delay, in their order; never empty.
    let retries: [String]
    private let waits: [String: Duration]
    private let longest: Duration

    init(_ settings: DispatchSettings) {
        let schedule = settings.schedule
        let topics = TopicCatalogue(prefix: settings.topics.prefix, retryDelays: schedule.delays)
        notifications = topics.notifications
        deadLetters = topics.notificationDeadLetters
        retries = topics.retries
        waits = Dictionary(
            zip(retries, schedule.delays.map { $0 * (1 + schedule.spread) }),
            uniquingKeysWith: max
        )
        longest = waits.values.max() ?? .zero
    }

    /// The longest that a record can have to wait in a retry topic; in one of an earlier setting as long as in the slowest of today's.
    func longestWait(in topic: String) -> Duration { waits[topic] ?? longest }

    /// The topic of a step of the ladder.
    func retry(_ step: Int) -> String { retries[min(max(step, 0), retries.count - 1)] }
}
