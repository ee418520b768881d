/// The names of the headers that tell a failed record's story.
///
/// Original headers stay as they were; these stand beside them, each at most once.
package enum FailureHeader: String, Hashable, Sendable, CaseIterable {
    case originalTopic = "x-original-topic"
    case originalPartition = "x-original-partition"
    case originalOffset = "x-original-offset"
    case originalTimestamp = "x-original-timestamp"
    case originalConsumerGroup = "x-original-consumer-group"
    case reason = "x-dlq-reason"
    case detail = "x-dlq-detail"
    case httpStatus = "x-dlq-http-status"
    case attempts = "x-dlq-attempts"
    case firstFailedAt = "x-dlq-first-failed-at"
    case lastFailedAt = "x-dlq-last-failed-at"
    case stage = "x-dlq-stage"
    case replayCount = "x-dlq-replay-count"
    case replayID = "x-dlq-replay-id"

    /// Whether `name` is one of these, so that it is rewritten and not copied.
    package static func isOne(_ name: String) -> Bool {
        name.utf8.starts(with: "x-".utf8) && FailureHeader(rawValue: name) != nil
    }
}

/// Where in the pipeline a record failed.
package enum FailureStage: String, Hashable, Sendable, CaseIterable {
    case encrypt
    case dispatch
}

/// Where a record stood when it failed for the first time.
package struct RecordPlace: Hashable, Sendable {
    package var topic: String
    package var partition: Int32
    package var offset: Int64
    /// Unix milliseconds.
    package var timestamp: Int64
    package var consumerGroup: String

    package init(topic: String, partition: Int32, offset: Int64, timestamp: Int64, consumerGroup: String) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.consumerGroup = consumerGroup
    }
}
