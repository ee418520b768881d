import Crdkafka

/// Writes records; idempotent by default, transactional with a `transactional.id`.
///
/// One thread owns it. ``produce(topic:partition:key:value:headers:timestamp:id:)`` copies the record into
/// librdkafka's queue and returns; what became of it is told by ``poll(timeout:)`` and its kin, which also run inside
/// a flush, a commit and an abort. A record with an id gives exactly one ``Delivery``; one without only counts.
///
/// Nothing is allocated for a record on this side: names and values are given to librdkafka where they lie, and it
/// copies them.
@safe
package struct Producer: ~Copyable {
    let client: Client
    private let mainQueue: OpaquePointer
    private let queueFullTimeout: Duration
    private var topics = TopicHandles()
    /// What `rd_kafka_produceva` takes: topic, partition, flags, timestamp, id, key, value and perhaps headers.
    private let fields: UnsafeMutablePointer<rd_kafka_vu_t>
    private static let fieldCount = 8

    /// Makes a producer; it connects by itself in the background.
    ///
    /// - Parameters:
    ///   - configuration: `enable.idempotence` is true unless it says otherwise.
    ///   - queueFullTimeout: how long `produce` serves delivery reports and tries again when the queue
    ///     (`queue.buffering.max.messages`, `…kbytes`) is full; default 30 s, zero for not at all.
    ///   - log: gets librdkafka's log lines from inside ``poll(timeout:)``; nobody does by default.
    /// - Throws: ``KafkaError/property(name:problem:)`` for a setting that is refused.
    package init(
        _ configuration: Configuration,
        queueFullTimeout: Duration = .seconds(30),
        log: LogSink? = nil
    ) throws(KafkaError) {
        let client = try Client(.producer, configuration, log: log)
        guard let queue = unsafe rd_kafka_queue_get_main(client.pointer) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__STATE, "client")
        }
        self.client = client
        unsafe mainQueue = queue
        self.queueFullTimeout = queueFullTimeout
        unsafe fields = .allocate(capacity: Self.fieldCount)
        unsafe fields.initialize(repeating: rd_kafka_vu_t(), count: Self.fieldCount)
        unsafe crdkafka_set_flags(fields + 2, RD_KAFKA_MSG_F_COPY)
    }

    deinit {
        topics.destroy()
        unsafe rd_kafka_queue_io_event_enable(mainQueue, -1, nil, 0)
        unsafe rd_kafka_queue_destroy(mainQueue)
        unsafe fields.deallocate()
    }

    // MARK: - Producing

    /// Hands one record to librdkafka, which copies it.
    ///
    /// - Parameters:
    ///   - topic: must exist, unless the broker creates topics by itself.
    ///   - partition: `nil` lets the partitioner choose by key.
    ///   - key: `nil` is a null key, `[]` an empty one.
    ///   - value: `nil` is a null value, a tombstone.
    ///   - headers: in order; a lane reuses one value.
    ///   - timestamp: milliseconds since the Unix epoch; `nil` and 0 are now.
    ///   - id: comes back in a ``Delivery``; 0 asks for none.
    /// - Throws: ``KafkaError/isQueueFull`` (retriable) when the queue stayed full,
    ///   ``KafkaError/isRecordTooLarge``, or what is wrong with the producer. The record was not taken then.
    ///
    /// The corresponding C function is `rd_kafka_produceva`.
    package mutating func produce(
        topic: String,
        partition: Int32? = nil,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: borrowing Headers = Headers(),
        timestamp: Int64? = nil,
        id: UInt64 = 0
    ) throws(KafkaError) {
        unsafe crdkafka_set_topic(fields, try topics.find(topic, client))
        unsafe crdkafka_set_partition(fields + 1, partition ?? -1)
        unsafe crdkafka_set_timestamp(fields + 3, timestamp ?? 0)
        unsafe crdkafka_set_identifier(fields + 4, UInt(id))
        let list = unsafe headers.list()
        unsafe crdkafka_set_headers(fields + 7, list)
        let count = unsafe list == nil ? Self.fieldCount - 1 : Self.fieldCount
        let (client, fields, timeout) = unsafe (client.pointer, fields, queueFullTimeout)
        let error: OpaquePointer? = unsafe withBytes(key) { key, keyCount in
            unsafe withBytes(value) { value, valueCount in
                unsafe crdkafka_set_key(fields + 5, key, keyCount)
                unsafe crdkafka_set_value(fields + 6, value, valueCount)
                return unsafe Self.enqueue(client, fields, count, timeout)
            }
        }
        // With the record, librdkafka takes the list; without it, it is ours still.
        if let list = unsafe list, unsafe error != nil { unsafe rd_kafka_headers_destroy(list) }
        try self.client.check(error, "produce")
    }

    /// Produces, and while the queue is full makes room by serving delivery reports.
    private static func enqueue(
        _ client: OpaquePointer,
        _ fields: UnsafeMutablePointer<rd_kafka_vu_t>,
        _ count: Int,
        _ timeout: Duration
    ) -> OpaquePointer? {
        var deadline: Deadline?
        while let error = unsafe rd_kafka_produceva(client, fields, count) {
            guard unsafe rd_kafka_error_code(error).rawValue == Code.queueFull else { return unsafe error }
            let until = deadline ?? Deadline(in: timeout)
            deadline = until
            if until.hasPassed { return unsafe error }
            unsafe rd_kafka_error_destroy(error)
            unsafe _ = rd_kafka_poll(client, min(until.remaining, .milliseconds(100)).milliseconds)
        }
        return nil
    }

    // MARK: - Delivery

    /// Serves delivery reports and log lines; waits up to `timeout` for the first.
    ///
    /// The corresponding C function is `rd_kafka_poll`.
    package mutating func poll(timeout: Duration = .zero) {
        unsafe _ = rd_kafka_poll(client.pointer, timeout.milliseconds)
    }

    /// Appends the deliveries that were reported since the last call; ``poll(timeout:)`` makes them come.
    package mutating func takeDeliveries(into deliveries: inout [Delivery]) {
        deliveries += client.callbacks.deliveries
        client.callbacks.deliveries.removeAll(keepingCapacity: true)
    }

    /// Waits until everything produced is written or has failed.
    ///
    /// - Throws: ``KafkaError/isTimeout`` when something is still on its way.
    ///
    /// The corresponding C function is `rd_kafka_flush`.
    package mutating func flush(timeout: Duration) throws(KafkaError) {
        try client.check(unsafe rd_kafka_flush(client.pointer, timeout.milliseconds), "flush")
    }

    /// Gives up everything that is not written yet; each record fails with `_PURGE_QUEUE` or `_PURGE_INFLIGHT`.
    ///
    /// - Parameter includingSent: also what was sent and not answered, of which nobody knows whether it is written.
    /// - Throws: when the client is no producer any more, after a fatal error.
    ///
    /// The corresponding C function is `rd_kafka_purge`.
    package mutating func purge(includingSent: Bool = true) throws(KafkaError) {
        let flags = RD_KAFKA_PURGE_F_QUEUE | (includingSent ? RD_KAFKA_PURGE_F_INFLIGHT : 0)
        try client.check(unsafe rd_kafka_purge(client.pointer, flags), "purge")
        poll()
    }

    /// Records and reports that wait in librdkafka.
    ///
    /// The corresponding C function is `rd_kafka_outq_len`.
    package var queueLength: Int { Int(unsafe rd_kafka_outq_len(client.pointer)) }
    /// How many records were written, with and without an id.
    package var deliveredCount: UInt64 { client.callbacks.deliveredCount }
    /// How many records failed, with and without an id.
    package var failedCount: UInt64 { client.callbacks.failedCount }
    /// Why the last one failed.
    package var lastFailure: KafkaError? { client.callbacks.lastFailure }
    /// The error after which this producer is of no use, such as having been fenced.
    package var fatalError: KafkaError? { client.fatalError }

    /// Errors of the client since the last call, such as an unreachable broker; it keeps trying by itself.
    package mutating func takeTroubles() -> [KafkaError] { client.callbacks.takeTroubles() }

    /// Makes the producer write 8 bytes, the number 1, to a descriptor when a report arrives while nobody polls.
    ///
    /// As ``Consumer/wake(_:)``: not blocking, owned by the caller, open until the producer is gone.
    package func wake(_ descriptor: Int32) {
        unsafe Wakeup.enable(mainQueue, descriptor)
    }
}

extension Headers {
    /// The headers as librdkafka wants them; `nil` for none.
    ///
    /// Measured as cheap as a field for each header (about a microsecond for twelve, most of it librdkafka's own allocations), and
    /// it need not be made again when the queue is full.
    ///
    /// The corresponding C functions are `rd_kafka_headers_new` and `rd_kafka_header_add`.
    fileprivate func list() -> OpaquePointer? {
        if isEmpty { return nil }
        let list = unsafe rd_kafka_headers_new(count)
        unsafe storage.withUnsafeBytes { storage in
            guard let base = storage.baseAddress else { return }
            var position = start
            while let slot = slot(at: position) {
                unsafe rd_kafka_header_add(
                    list,
                    (base + slot.name.lowerBound).assumingMemoryBound(to: CChar.self),
                    slot.name.count,
                    slot.value.map { unsafe base + $0.lowerBound },
                    slot.value?.count ?? 0
                )
                position = slot.end
            }
        }
        return unsafe list
    }
}
