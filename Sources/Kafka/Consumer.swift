import Crdkafka

/// Reads records as a member of a group, or from partitions named by hand.
///
/// One thread owns it. Everything that librdkafka wants to tell happens inside ``poll(into:limit:wait:linger:)``,
/// which must be called at least every half `max.poll.interval.ms`, whether partitions are paused or not.
///
/// ```
/// subscribe ─▶ poll ─▶ [.assigned]            take part; records follow
///               ├────▶ records                 process, commit explicit offsets
///               ├────▶ [.revoked] ─▶ finish or abandon, commit ─▶ completeRebalance ─▶ poll …
///               └────▶ [.lost]    ─▶ abandon                   ─▶ completeRebalance ─▶ poll …
/// close
/// ```
///
/// Invariant: between `.revoked` or `.lost` and ``completeRebalance()`` no record is handed out, and none of the
/// partitions concerned afterwards. Assignments are whole ("eager"): a rebalance takes all partitions back first.
///
/// Nothing is committed but by ``commit(_:timeout:)`` or in a producer's transaction.
@safe
package struct Consumer: ~Copyable {
    let client: Client
    private let queue: OpaquePointer
    private var batch: MessageBatch
    var readAhead: ReadAhead
    private var isClosed = false

    /// Makes a consumer; it connects to nothing before ``subscribe(_:)`` or ``assign(_:)``.
    ///
    /// Defaults where the configuration is silent: no automatic commits, `isolation.level=read_committed`,
    /// `auto.offset.reset=earliest`.
    ///
    /// - Parameters:
    ///   - configuration: must have `group.id`, also for partitions named by hand.
    ///   - log: gets librdkafka's log lines from inside ``poll(into:limit:wait:linger:)``; nobody does by default.
    /// - Throws: ``KafkaError/property(name:problem:)`` for a setting that is refused.
    package init(_ configuration: Configuration, log: LogSink? = nil) throws(KafkaError) {
        guard configuration["group.id"]?.isEmpty == false else {
            throw .property(name: "group.id", problem: "a consumer needs a group")
        }
        let client = try Client(.consumer, configuration, log: log)
        try client.check(unsafe rd_kafka_poll_set_consumer(client.pointer), "client")
        guard let queue = unsafe rd_kafka_queue_get_consumer(client.pointer) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__UNKNOWN_GROUP, "client")
        }
        unsafe client.callbacks.consumerQueue = queue
        self.client = client
        unsafe self.queue = queue
        batch = MessageBatch()
        readAhead = ReadAhead(configuration)
    }

    deinit {
        if !isClosed { _ = Self.leave(client, within: .seconds(5)) }
        // The event descriptor belongs to the caller and may be closed after this.
        unsafe rd_kafka_queue_io_event_enable(queue, -1, nil, 0)
        unsafe client.callbacks.consumerQueue = nil
        unsafe rd_kafka_queue_destroy(queue)
    }

    // MARK: - What to read

    /// Joins the group to read these topics; replaces what was subscribed to before.
    ///
    /// The corresponding C function is `rd_kafka_subscribe`.
    package func subscribe(_ topics: [String]) throws(KafkaError) {
        let list = PartitionList(topics.map { TopicPartition($0, -1) })
        try client.check(unsafe rd_kafka_subscribe(client.pointer, list.pointer), "subscribe")
    }

    /// Reads these partitions from these offsets, without a group's help.
    ///
    /// - Parameter offsets: a real offset, ``TopicPartitionOffset/beginning``, `end` or `committed`.
    /// - Throws: when the consumer is closed or broken.
    ///
    /// The corresponding C function is `rd_kafka_assign`.
    package func assign(_ offsets: [TopicPartitionOffset]) throws(KafkaError) {
        let list = PartitionList(offsets)
        try client.check(unsafe rd_kafka_assign(client.pointer, list.pointer), "assign")
    }

    /// The partitions read at present.
    ///
    /// The corresponding C function is `rd_kafka_assignment`.
    package func assignment() throws(KafkaError) -> [TopicPartition] {
        var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        try client.check(unsafe rd_kafka_assignment(client.pointer, &list), "assignment")
        guard let list = unsafe list else { return [] }
        return unsafe PartitionList(taking: list).places
    }

    // MARK: - Reading

    /// Waits for records, appends up to `limit` of them, and tells what else happened.
    ///
    /// Returns at once with what lies ready if that is `limit`; otherwise waits for the first record and then a
    /// little for more. An event ends the waiting.
    ///
    /// - Parameters:
    ///   - records: is appended to.
    ///   - limit: the most to append; from 1 to 100,000.
    ///   - wait: how long to wait for the first record; zero only looks.
    ///   - linger: how long to wait for more once there is one.
    /// - Returns: events in order, to be handled before the records; empty nearly always.
    /// - Throws: a fatal ``KafkaError`` after which the consumer is of no use. Anything less is an event.
    ///
    /// The corresponding C function is `rd_kafka_consume_batch_queue`.
    package mutating func poll(
        into records: inout [Record],
        limit: Int,
        wait: Duration,
        linger: Duration = .zero
    ) throws(KafkaError) -> [ConsumerEvent] {
        let limit = min(max(limit, 1), 100_000)
        var count = unsafe batch.fill(from: queue, limit: limit, wait: .zero)
        if count == 0, !hasNews, wait > .zero {
            count = unsafe batch.fill(from: queue, limit: 1, wait: wait)
        }
        if count > 0, count < limit, !hasNews {
            unsafe batch.fill(from: queue, limit: limit, wait: linger)
        }
        if isRebalancePending {
            batch.discard()
        } else {
            let known = records.count
            let bytes = batch.drain(into: &records, noting: client)
            readAhead.took(records: records.count - known, bytes: bytes, client)
        }
        if client.callbacks.hasFatal, let fatal = client.fatalError { throw fatal }
        return client.callbacks.takeEvents()
    }

    private var hasNews: Bool { !client.callbacks.events.isEmpty }

    /// Whether the group waits for ``completeRebalance()``.
    package var isRebalancePending: Bool { !client.callbacks.unanswered.isEmpty }

    /// Whether the partitions were lost by now, even if they were revoked in order at first: a commit would fail.
    ///
    /// The corresponding C function is `rd_kafka_assignment_lost`.
    package var isAssignmentLost: Bool { unsafe rd_kafka_assignment_lost(client.pointer) != 0 }

    /// Lets go of the partitions after `.revoked` or `.lost`, and ends their pauses; without one pending it does nothing.
    ///
    /// librdkafka keeps a pause over the loss of a partition. Whoever gets it back and has forgotten the pause would never read it again.
    ///
    /// The corresponding C function is `rd_kafka_assign` without partitions.
    package mutating func completeRebalance() throws(KafkaError) {
        guard isRebalancePending else { return }
        client.callbacks.unanswered.removeAll()
        if let held = try? assignment() {
            // What cannot be resumed is told in the list; it is let go all the same.
            let list = PartitionList(held)
            unsafe _ = rd_kafka_resume_partitions(client.pointer, list.pointer)
        }
        try client.check(unsafe rd_kafka_assign(client.pointer, nil), "unassign")
    }

    /// Makes the consumer write 8 bytes, the number 1, to a descriptor when something arrives while nobody polls.
    ///
    /// Made for an eventfd, so that a lane can wait for Kafka and other descriptors in one `poll(2)`. The write comes
    /// once and not again before the next ``poll(into:limit:wait:linger:)``; records that a poll left over its
    /// limit cause none. So: drain the descriptor, poll until fewer than `limit` records come, then wait.
    ///
    /// - Parameter descriptor: not blocking, owned by the caller, open until the consumer is gone.
    ///
    /// The corresponding C function is `rd_kafka_queue_io_event_enable`.
    package func wake(_ descriptor: Int32) {
        unsafe Wakeup.enable(queue, descriptor)
    }

    // MARK: - Leaving

    /// Leaves the group, so that the others need not wait for the session to time out.
    ///
    /// Pending rebalances are answered. Nothing is committed: that is the lane's to do before.
    ///
    /// - Returns: whether the group was left in time; if not, it notices by the session's timeout.
    ///
    /// The corresponding C function is `rd_kafka_consumer_close_queue`.
    @discardableResult
    package mutating func close(within timeout: Duration = .seconds(10)) -> Bool {
        guard !isClosed else { return true }
        isClosed = true
        batch.discard()
        return Self.leave(client, within: timeout)
    }

    private static func leave(_ client: borrowing Client, within timeout: Duration) -> Bool {
        let callbacks = client.callbacks
        callbacks.isClosing = true
        if !callbacks.unanswered.isEmpty {
            callbacks.unanswered.removeAll()
            unsafe _ = rd_kafka_assign(client.pointer, nil)
        }
        guard let closing = unsafe rd_kafka_queue_new(client.pointer) else { return false }
        defer { unsafe rd_kafka_queue_destroy(closing) }
        // After a fatal error librdkafka refuses to close; destroying the client is all there is to do.
        if let error = unsafe rd_kafka_consumer_close_queue(client.pointer, closing) {
            unsafe rd_kafka_error_destroy(error)
            return false
        }
        let deadline = Deadline(in: timeout)
        var batch = MessageBatch()
        while unsafe rd_kafka_consumer_closed(client.pointer) == 0 {
            if deadline.hasPassed { return false }
            unsafe batch.fill(from: closing, limit: 100, wait: min(deadline.remaining, .milliseconds(50)))
            batch.discard()
        }
        return true
    }
}
