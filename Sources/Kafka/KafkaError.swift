/// What can go wrong with Kafka, with the answers that a caller acts upon.
///
/// The texts are librdkafka's own with secrets taken out; they never hold keys, values or headers of records.
/// What a caller asks is asked as a question (``isRetriable``, ``isFenced``), not by comparing codes.
package enum KafkaError: Error, Equatable, Sendable {
    /// A property that librdkafka does not know, or whose value it refuses. Not retriable.
    case property(name: String, problem: String)
    /// A call or a broker said no.
    case failed(Failure)

    /// The answer of librdkafka to one call.
    package struct Failure: Equatable, Sendable {
        /// The verb that failed, such as `commit transaction`.
        package let operation: String
        /// `rd_kafka_resp_err_t`: negative is librdkafka's own, positive comes from the broker.
        package let code: Int32
        package let text: String
        package let isRetriable: Bool
        package let isFatal: Bool
        package let requiresAbort: Bool
    }

    /// The numeric code; `_INVALID_ARG` for a property.
    package var code: Int32 {
        switch self {
        case .property: Code.invalidArgument
        case .failed(let failure): failure.code
        }
    }

    /// Another attempt of the same call may succeed without anything else being done.
    package var isRetriable: Bool {
        switch self {
        case .property: false
        case .failed(let failure): failure.isRetriable
        }
    }

    /// The client cannot be used any more: drop it and make a new one.
    package var isFatal: Bool {
        switch self {
        case .property: false
        case .failed(let failure): failure.isFatal
        }
    }

    /// The transaction must be aborted; the producer is good after that.
    package var requiresAbort: Bool {
        switch self {
        case .property: false
        case .failed(let failure): failure.requiresAbort
        }
    }

    /// Another client has taken this one's transactional id or group instance id.
    package var isFenced: Bool { Code.fenced.contains(code) }

    /// The deadline passed; the outcome is unknown.
    package var isTimeout: Bool { Code.timeouts.contains(code) }

    /// The producer's queue stayed full for as long as it was allowed to.
    package var isQueueFull: Bool { code == Code.queueFull }

    /// The group has moved on: the partitions in question belong to somebody else by now.
    package var isStaleMember: Bool { Code.stale.contains(code) }

    /// A partition is read to its end, with `enable.partition.eof`.
    package var isPartitionEnd: Bool { code == Code.partitionEnd }

    package var isTopicAlreadyThere: Bool { code == Code.topicAlreadyExists }

    /// The brokers do not know who this is, or do not let him do it: a matter of settings and rights, not of time.
    package var isDenied: Bool { Code.denied.contains(code) }

    /// Of what is denied, a right to a topic, a group or a transactional id.
    package var isRightMissing: Bool { isDenied && !Code.noEntry.contains(code) }

    package var isUnknownTopic: Bool { Code.unknownTopic.contains(code) }

    /// The record is larger than the client or the broker takes.
    package var isRecordTooLarge: Bool { code == Code.messageTooLarge }
}

extension KafkaError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .property(let name, let problem):
            "Kafka property \(name): \(problem)"
        case .failed(let failure):
            "Kafka \(failure.operation): \(Code.name(failure.code)): \(failure.text)"
        }
    }
}
