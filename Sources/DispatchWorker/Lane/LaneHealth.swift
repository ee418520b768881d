internal import Lanes

/// What keeps a lane from doing its work; told to the outside when it changes.
struct LaneHealth {
    /// The gravest first.
    enum Trouble: CaseIterable {
        case databaseAway
        case topicMissing
        /// A topic that must keep every record is compacted; the lane does not start.
        case topicCompacted
        /// A topic or a group may not be read.
        case rightMissing
        case kafkaAway
        /// A topic for dead letters or retries is not there; found before anything has to be written to it.
        case writtenTopicMissing
        /// A dead letter or hand-over could not be written; its partition's commits stand still until it can.
        case endingsUnwritable
        case starting

        var reason: StaticString {
            switch self {
            case .starting: "starting"
            case .databaseAway: "database_away"
            case .topicMissing: "topic_missing"
            case .topicCompacted: "topic_compacted"
            case .rightMissing: "right_missing"
            case .writtenTopicMissing: "dead_letter_topic_missing"
            case .kafkaAway: "kafka_away"
            case .endingsUnwritable: "dead_letters_unwritable"
            }
        }
    }

    private let context: LaneContext
    private var troubles: Set<Trouble> = [.starting]

    init(_ context: LaneContext) {
        self.context = context
        context.notReady(Trouble.starting.reason)
    }

    mutating func set(_ trouble: Trouble, _ isThere: Bool) {
        let changed = isThere ? troubles.insert(trouble).inserted : troubles.remove(trouble) != nil
        guard changed else { return }
        if let gravest = Trouble.allCases.first(where: troubles.contains) {
            context.notReady(gravest.reason)
        } else {
            context.ready()
        }
    }
}
