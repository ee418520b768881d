import Crdkafka

extension Consumer {
    // MARK: - Committing

    /// Commits these offsets for the group and waits for the answer.
    ///
    /// Offsets are the next record to read. Also possible between `.revoked` and ``completeRebalance()``.
    ///
    /// - Throws: the broker's answer; ``KafkaError/isStaleMember`` when the partitions belong to others by now, and
    ///   ``KafkaError/isTimeout`` when the outcome is unknown.
    ///
    /// The corresponding C function is `rd_kafka_commit_queue`.
    package func commit(_ offsets: [TopicPartitionOffset], timeout: Duration) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        // rd_kafka_commit would wait for as long as no coordinator is found.
        let answers = EventQueue(client)
        let list = PartitionList(offsets)
        try client.check(
            unsafe rd_kafka_commit_queue(client.pointer, list.pointer, answers.pointer, nil, nil),
            "commit"
        )
        let answer = try answers.next(within: timeout, "commit")
        try client.check(unsafe rd_kafka_event_error(answer.pointer), "commit")
        guard let result = unsafe rd_kafka_event_topic_partition_list(answer.pointer) else { return }
        try unsafe TopicPartition.check(result, "commit")
    }

    /// The group's committed offsets; a partition without one is missing.
    ///
    /// The corresponding C function is `rd_kafka_committed`.
    package func committed(
        _ places: [TopicPartition],
        timeout: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let list = PartitionList(places)
        try client.check(
            unsafe rd_kafka_committed(client.pointer, list.pointer, timeout.milliseconds),
            "committed offsets"
        )
        try list.check("committed offsets")
        return list.offsets
    }

    /// Who this member is, for a producer's transaction; to be taken anew for each transaction.
    ///
    /// The corresponding C function is `rd_kafka_consumer_group_metadata`.
    package func groupMetadata() throws(KafkaError) -> GroupMetadata {
        guard let metadata = unsafe rd_kafka_consumer_group_metadata(client.pointer) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__UNKNOWN_GROUP, "group metadata")
        }
        return unsafe GroupMetadata(taking: metadata)
    }

    // MARK: - Moving

    /// Reads on from these offsets; what was fetched already is thrown away.
    ///
    /// Possible only for partitions that are assigned. Returns once the seek is on its way.
    ///
    /// The corresponding C function is `rd_kafka_seek_partitions`.
    package func seek(to offsets: [TopicPartitionOffset], timeout: Duration) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        // Before 2.1.0 the milliseconds were taken for microseconds (librdkafka's pull request 4230).
        let wait = rd_kafka_version() < 0x0201_0000 ? timeout * 1000 : timeout
        try client.check(
            unsafe rd_kafka_seek_partitions(client.pointer, list.pointer, wait.milliseconds),
            "seek"
        )
        try list.check("seek")
    }

    /// Hands out nothing of these partitions until ``resume(_:)``; polling must go on.
    ///
    /// The corresponding C function is `rd_kafka_pause_partitions`.
    package func pause(_ places: [TopicPartition]) throws(KafkaError) {
        let list = PartitionList(places)
        try client.check(unsafe rd_kafka_pause_partitions(client.pointer, list.pointer), "pause")
        try list.check("pause")
    }

    /// Goes on behind the last record that was handed out.
    ///
    /// The corresponding C function is `rd_kafka_resume_partitions`.
    package mutating func resume(_ places: [TopicPartition]) throws(KafkaError) {
        let list = PartitionList(places)
        readAhead.resumed()
        try client.check(unsafe rd_kafka_resume_partitions(client.pointer, list.pointer), "resume")
        try list.check("resume")
    }

    // MARK: - Where things are

    /// Behind the last record handed out, by partition; missing where none was.
    ///
    /// The corresponding C function is `rd_kafka_position`.
    package func position(_ places: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        let list = PartitionList(places)
        try client.check(unsafe rd_kafka_position(client.pointer, list.pointer), "position")
        return list.offsets
    }

    /// The oldest offset and the one behind the newest, asked from the broker.
    ///
    /// The corresponding C function is `rd_kafka_offsets_for_times`.
    package func watermarks(_ place: TopicPartition, timeout: Duration) throws(KafkaError) -> Watermarks {
        try client.watermarks(place, timeout: timeout)
    }

    /// The watermarks as the last fetch brought them; `nil` before there was one.
    ///
    /// The corresponding C function is `rd_kafka_get_watermark_offsets`.
    package func cachedWatermarks(_ place: TopicPartition) -> Watermarks? {
        var (low, high) = (Int64(-1), Int64(-1))
        let code = unsafe rd_kafka_get_watermark_offsets(
            client.pointer,
            place.topic,
            place.partition,
            &low,
            &high
        )
        guard code.rawValue == Code.none, high >= 0 else { return nil }
        return Watermarks(low: max(low, 0), high: high)
    }

    /// How many offsets lie between what was handed out and the newest record, by what is known without asking.
    ///
    /// Offsets of aborted transactions and markers count, so it is an upper bound. Partitions of which nothing is
    /// known yet are missing.
    package func lag(_ places: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        let positions = try position(places)
        var lag: [TopicPartition: Int64] = [:]
        for place in places {
            guard let known = cachedWatermarks(place) else { continue }
            lag[place] = max(0, known.high - (positions[place] ?? known.low))
        }
        return lag
    }
}

/// The offsets between which a partition has records: from `low` up to but not including `high`.
package struct Watermarks: Sendable, Equatable {
    package let low: Int64
    package let high: Int64
}

extension Client {
    /// Asked as offsets by time.
    ///
    /// `rd_kafka_query_watermark_offsets` does not keep to its timeout: while the partition's leader is away it
    /// waits for that one, and whoever asks stands still with it. Source: librdkafka's issues 2588 and 4878.
    ///
    /// Who leads a partition is remembered for a quarter of an hour, and a leader that does not answer says nothing of its successor: after
    /// half of the time the brokers are asked who leads, and then the one who does.
    func watermarks(_ place: TopicPartition, timeout: Duration) throws(KafkaError) -> Watermarks {
        let deadline = Deadline(in: timeout)
        do throws(KafkaError) {
            return try watermarks(place, Deadline(in: timeout / 2))
        } catch {
            guard Code.unanswered.contains(error.code), !deadline.hasPassed else { throw error }
        }
        var metadata: UnsafePointer<rd_kafka_metadata_t>?
        let code = unsafe rd_kafka_metadata(pointer, 1, nil, &metadata, deadline.remaining.milliseconds)
        try check(code, "watermarks")
        unsafe rd_kafka_metadata_destroy(metadata)
        return try watermarks(place, deadline)
    }

    private func watermarks(_ place: TopicPartition, _ deadline: Deadline) throws(KafkaError) -> Watermarks {
        let low = try offset(of: place, at: TopicPartitionOffset.beginning, deadline)
        return Watermarks(low: low, high: try offset(of: place, at: TopicPartitionOffset.end, deadline))
    }

    private func offset(
        of place: TopicPartition,
        at end: Int64,
        _ deadline: Deadline
    ) throws(KafkaError) -> Int64 {
        let list = PartitionList([TopicPartitionOffset(place, offset: end)])
        let milliseconds = max(1, deadline.remaining.milliseconds)
        try check(unsafe rd_kafka_offsets_for_times(pointer, list.pointer, milliseconds), "watermarks")
        try list.check("watermarks")
        guard let offset = list.offsets[place] else {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, "watermarks", text: "\(place): no answer in time")
        }
        return offset
    }
}

/// Owns an `rd_kafka_consumer_group_metadata_t`: the group, the generation and the member.
///
/// A transaction that carries it cannot commit offsets for a member that the group has moved on from.
///
/// The corresponding C function is `rd_kafka_consumer_group_metadata_destroy`.
@safe
package struct GroupMetadata: ~Copyable {
    private let metadata: OpaquePointer

    var pointer: OpaquePointer { unsafe metadata }

    init(taking metadata: OpaquePointer) {
        unsafe self.metadata = metadata
    }

    deinit {
        unsafe rd_kafka_consumer_group_metadata_destroy(metadata)
    }
}
