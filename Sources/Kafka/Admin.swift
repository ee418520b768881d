import Crdkafka

/// Looks after topics and groups.
///
/// One thread owns it; every call waits for its answer.
///
/// ``MockCluster`` answers none of these but ``topics(timeout:)`` and ``watermarks(_:timeout:)``.
package struct Admin: ~Copyable {
    let client: Client
    private let configuration: Configuration

    package init(_ configuration: Configuration, log: LogSink? = nil) throws(KafkaError) {
        self.configuration = configuration
        client = try Client(.administrator, configuration, log: log)
    }

    /// The oldest offset of a partition and the one behind its newest.
    ///
    /// The corresponding C function is `rd_kafka_offsets_for_times`.
    package func watermarks(_ place: TopicPartition, timeout: Duration) throws(KafkaError) -> Watermarks {
        try client.watermarks(place, timeout: timeout)
    }

    /// Every topic that the broker shows, by name; those whose names begin with two underscores are its own.
    ///
    /// The corresponding C function is `rd_kafka_metadata`.
    package func topics(timeout: Duration) throws(KafkaError) -> [TopicDescription] {
        var metadata: UnsafePointer<rd_kafka_metadata_t>?
        try untilAnswered(within: timeout, "list topics") { milliseconds in
            unsafe rd_kafka_metadata(client.pointer, 1, nil, &metadata, milliseconds)
        }
        guard let metadata = unsafe metadata else { return [] }
        defer { unsafe rd_kafka_metadata_destroy(metadata) }
        return (0..<Int(unsafe metadata.pointee.topic_cnt))
            .map { unsafe TopicDescription(copying: metadata.pointee.topics[$0]) }
            .sorted { $0.name < $1.name }
    }

    /// Asks again and for longer while no broker answers, and ends early if that is because none lets this client in.
    ///
    /// A refused login is told of the connection and not of the call, which would wait for all of its time and then speak of transport.
    private func untilAnswered(
        within timeout: Duration,
        _ operation: String,
        _ call: (_ milliseconds: Int32) -> rd_kafka_resp_err_t
    ) throws(KafkaError) {
        let deadline = Deadline(in: timeout)
        var share = Duration.milliseconds(500)
        while true {
            let code = call(min(share, deadline.remaining).milliseconds)
            unsafe _ = rd_kafka_poll(client.pointer, 0)
            if code.rawValue == Code.none {
                // Whatever was in the way is so no more.
                _ = client.callbacks.takeTroubles()
                return
            }
            if let reason = client.callbacks.noEntry { throw reason }
            guard Code.unanswered.contains(code.rawValue), !deadline.hasPassed else {
                return try client.check(code, operation)
            }
            // Not at once: a call that cannot even be sent comes back without waiting.
            unsafe _ = rd_kafka_poll(client.pointer, 20)
            share = share * 2
        }
    }

    /// What the group has committed of these partitions; those without a commit are missing.
    ///
    /// Asked by a consumer that names the group and joins nothing. The administrator's own call, `rd_kafka_ListConsumerGroupOffsets`,
    /// ends the process when the broker answers that the coordinator is elsewhere or not ready: librdkafka then tells the client's own
    /// group to look for it, and an administrator has none. Source: confluentinc/librdkafka issue 5040.
    ///
    /// The corresponding C function is `rd_kafka_committed`.
    package func committedOffsets(
        ofGroup group: String,
        places: [TopicPartition],
        timeout: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        if places.isEmpty { return [:] }
        let reader = try Consumer(configuration.setting("group.id", group))
        return try reader.committed(places, timeout: timeout)
    }

    /// The names of all groups that the brokers know.
    ///
    /// The corresponding C function is `rd_kafka_ListConsumerGroups`.
    package func groups(timeout: Duration) throws(KafkaError) -> [String] {
        let options = try AdminOptions(client, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS, timeout)
        let answers = EventQueue(client)
        unsafe rd_kafka_ListConsumerGroups(client.pointer, options.pointer, answers.pointer)
        let answer = try answers.next(within: timeout, "list groups", for: client)
        try answer.check("list groups", scrubbing: client.redaction)
        guard let result = unsafe rd_kafka_event_ListConsumerGroups_result(answer.pointer) else { return [] }
        var count = 0
        guard let listings = unsafe rd_kafka_ListConsumerGroups_result_valid(result, &count) else {
            return []
        }
        return (0..<count).compactMap { index in
            guard let listing = unsafe listings[index] else { return nil }
            return unsafe String(cString: rd_kafka_ConsumerGroupListing_group_id(listing))
        }
    }
}

/// Owns an `rd_kafka_AdminOptions_t`.
@safe
struct AdminOptions: ~Copyable {
    private let options: OpaquePointer

    var pointer: OpaquePointer { unsafe options }

    /// Options for one call.
    ///
    /// The timeout is for the request; where a topic is made or dropped, the broker also waits that long, but half a
    /// minute at most, for the change to arrive everywhere.
    init(_ client: borrowing Client, _ operation: rd_kafka_admin_op_t, _ timeout: Duration) throws(KafkaError)
    {
        unsafe options = rd_kafka_AdminOptions_new(client.pointer, operation)
        // Source: rdkafka.h, from 0 to 3,600,000 ms.
        let limit = max(1, min(timeout.milliseconds, 3_600_000))
        try client.check(unsafe rd_kafka_AdminOptions_set_request_timeout(options, limit, nil, 0), "options")
        if operation == RD_KAFKA_ADMIN_OP_CREATETOPICS || operation == RD_KAFKA_ADMIN_OP_DELETETOPICS {
            let wait = min(limit, 30_000)
            try client.check(
                unsafe rd_kafka_AdminOptions_set_operation_timeout(options, wait, nil, 0),
                "options"
            )
        }
    }

    deinit {
        unsafe rd_kafka_AdminOptions_destroy(options)
    }
}
