import Crdkafka

/// librdkafka's return codes, and which of them belong together.
///
/// Source: `rd_kafka_resp_err_t` in rdkafka.h of 2.0.2; retriable broker codes as in Apache Kafka's `Errors`.
enum Code {
    static var none: Int32 { RD_KAFKA_RESP_ERR_NO_ERROR.rawValue }
    static let fatal = RD_KAFKA_RESP_ERR__FATAL.rawValue
    static let queueFull = RD_KAFKA_RESP_ERR__QUEUE_FULL.rawValue
    static let partitionEnd = RD_KAFKA_RESP_ERR__PARTITION_EOF.rawValue
    static let invalidArgument = RD_KAFKA_RESP_ERR__INVALID_ARG.rawValue
    static let topicAlreadyExists = RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS.rawValue
    static let messageTooLarge = RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE.rawValue

    static let fenced: Set<Int32> = [
        RD_KAFKA_RESP_ERR__FENCED.rawValue,
        RD_KAFKA_RESP_ERR_PRODUCER_FENCED.rawValue,
        RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH.rawValue,
        RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID.rawValue,
    ]

    static let timeouts: Set<Int32> = [
        RD_KAFKA_RESP_ERR__TIMED_OUT.rawValue,
        RD_KAFKA_RESP_ERR__MSG_TIMED_OUT.rawValue,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT.rawValue,
    ]

    static let stale: Set<Int32> = [
        RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION.rawValue,
        RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID.rawValue,
        RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS.rawValue,
    ]

    /// No waiting helps: who this is, or what it may do.
    static let denied: Set<Int32> = noEntry.union([
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue,
        RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED.rawValue,
        RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED.rawValue,
        RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED.rawValue,
    ])

    /// The client itself is not let in, by its login or by TLS; told of a connection, never in answer to a call.
    static let noEntry: Set<Int32> = [
        RD_KAFKA_RESP_ERR__AUTHENTICATION.rawValue,
        RD_KAFKA_RESP_ERR__SSL.rawValue,
        RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED.rawValue,
        RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM.rawValue,
        RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE.rawValue,
    ]

    /// What librdkafka says when no broker could be asked.
    static let unanswered: Set<Int32> = timeouts.union([
        RD_KAFKA_RESP_ERR__TRANSPORT.rawValue,
        RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue,
    ])

    static let unknownTopic: Set<Int32> = [
        RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue,
        RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC.rawValue,
        RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION.rawValue,
    ]

    /// For the calls that give a bare code; an `rd_kafka_error_t` knows by itself.
    static let retriable: Set<Int32> = [
        RD_KAFKA_RESP_ERR__TRANSPORT.rawValue,
        RD_KAFKA_RESP_ERR__RESOLVE.rawValue,
        RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue,
        RD_KAFKA_RESP_ERR__TIMED_OUT.rawValue,
        RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE.rawValue,
        RD_KAFKA_RESP_ERR__QUEUE_FULL.rawValue,
        RD_KAFKA_RESP_ERR__WAIT_COORD.rawValue,
        RD_KAFKA_RESP_ERR__WAIT_CACHE.rawValue,
        RD_KAFKA_RESP_ERR__IN_PROGRESS.rawValue,
        RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS.rawValue,
        RD_KAFKA_RESP_ERR__RETRY.rawValue,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT.rawValue,
        RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE.rawValue,
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION.rawValue,
        RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE.rawValue,
        RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE.rawValue,
        RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION.rawValue,
        RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS.rawValue,
        RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE.rawValue,
        RD_KAFKA_RESP_ERR_NOT_COORDINATOR.rawValue,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS.rawValue,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND.rawValue,
        RD_KAFKA_RESP_ERR_NOT_CONTROLLER.rawValue,
        RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR.rawValue,
        RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS.rawValue,
        RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT.rawValue,
        RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED.rawValue,
    ]

    /// The symbol without its prefix, such as `_FENCED`.
    ///
    /// The corresponding C function is `rd_kafka_err2name`.
    static func name(_ code: Int32) -> String {
        unsafe String(cString: rd_kafka_err2name(rd_kafka_resp_err_t(rawValue: code)))
    }

    /// The corresponding C function is `rd_kafka_err2str`.
    static func text(_ code: Int32) -> String {
        unsafe String(cString: rd_kafka_err2str(rd_kafka_resp_err_t(rawValue: code)))
    }
}

extension KafkaError {
    /// A bare code with a text of its own, or librdkafka's general one.
    init(_ code: rd_kafka_resp_err_t, _ operation: String, text: String? = nil, isFatal: Bool = false) {
        self = .failed(
            Failure(
                operation: operation,
                code: code.rawValue,
                text: text ?? Code.text(code.rawValue),
                isRetriable: !isFatal && Code.retriable.contains(code.rawValue),
                isFatal: isFatal || code.rawValue == Code.fatal,
                requiresAbort: false
            )
        )
    }

    /// Takes over an error object of librdkafka and destroys it.
    ///
    /// The corresponding C functions are `rd_kafka_error_code` and its kin, and `rd_kafka_error_destroy`.
    init(taking error: OpaquePointer, _ operation: String, scrubbing: Redaction) {
        let code = unsafe rd_kafka_error_code(error).rawValue
        self = .failed(
            Failure(
                operation: operation,
                code: code,
                text: scrubbing.scrub(unsafe String(cString: rd_kafka_error_string(error))),
                // librdkafka marks only errors of transactions.
                isRetriable: unsafe rd_kafka_error_is_retriable(error) != 0 || code == Code.queueFull,
                isFatal: unsafe rd_kafka_error_is_fatal(error) != 0 || code == Code.fatal,
                requiresAbort: unsafe rd_kafka_error_txn_requires_abort(error) != 0
            )
        )
        unsafe rd_kafka_error_destroy(error)
    }
}
