import Crdkafka

/// The messages of one batch call, between librdkafka and ``Record``.
///
/// Owns the array that C fills and every message in it until it is drained or discarded.
@safe
struct MessageBatch: ~Copyable {
    private var messages: UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>
    private var capacity: Int
    private var count = 0

    init() {
        capacity = 1
        unsafe messages = .allocate(capacity: capacity)
    }

    deinit {
        // `discard` needs a mutable self; this is the same.
        for index in 0..<count { unsafe rd_kafka_message_destroy(messages[index]) }
        unsafe messages.deallocate()
    }

    /// Adds messages behind those that are there, up to `limit` in all.
    ///
    /// The C call waits until it has all that it was asked for or the time is over, so a long wait asks for one.
    ///
    /// - Returns: how many there are now.
    ///
    /// The corresponding C function is `rd_kafka_consume_batch_queue`.
    @discardableResult
    mutating func fill(from queue: OpaquePointer, limit: Int, wait: Duration) -> Int {
        guard count < limit else { return count }
        grow(to: limit)
        let added = unsafe rd_kafka_consume_batch_queue(
            queue,
            wait.milliseconds,
            messages + count,
            limit - count
        )
        count += max(added, 0)
        return count
    }

    /// Turns the messages into records and gives them back to librdkafka; errors among them become events.
    ///
    /// Each message goes back as soon as it is copied, so that the next one's headers are parsed into memory that is
    /// still warm: giving them back all at the end made a record three times as dear.
    ///
    /// - Returns: the bytes of their values.
    mutating func drain(into records: inout [Record], noting client: borrowing Client) -> Int {
        var bytes = 0
        // The first message of a topic is kept until the topic changes, so that its handle cannot be given to another.
        var anchor: UnsafeMutablePointer<rd_kafka_message_t>?
        var topic = ""
        for index in 0..<count {
            guard let message = unsafe messages[index] else { continue }
            let isSameTopic = unsafe anchor != nil && anchor?.pointee.rkt == message.pointee.rkt
            if !isSameTopic {
                if let anchor = unsafe anchor { unsafe rd_kafka_message_destroy(anchor) }
                unsafe anchor = message
                topic =
                    unsafe message.pointee.rkt.map { unsafe String(cString: rd_kafka_topic_name($0)) } ?? ""
            }
            if unsafe message.pointee.err.rawValue == Code.none {
                unsafe records.append(Record(copying: message, topic: topic))
                bytes += unsafe message.pointee.len
            } else {
                unsafe client.note(failed: message, topic: topic)
            }
            if isSameTopic { unsafe rd_kafka_message_destroy(message) }
        }
        if let anchor = unsafe anchor { unsafe rd_kafka_message_destroy(anchor) }
        count = 0
        return bytes
    }

    /// Gives the messages back unread.
    mutating func discard() {
        for index in 0..<count { unsafe rd_kafka_message_destroy(messages[index]) }
        count = 0
    }

    private mutating func grow(to wanted: Int) {
        guard wanted > capacity else { return }
        let larger = UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>.allocate(
            capacity: wanted
        )
        unsafe larger.moveInitialize(from: messages, count: count)
        unsafe messages.deallocate()
        unsafe messages = larger
        capacity = wanted
    }
}

extension Client {
    /// Makes an event of a message that is an error; a fatal one is found by asking for it.
    ///
    /// The corresponding C function is `rd_kafka_message_errstr`.
    fileprivate func note(failed message: UnsafePointer<rd_kafka_message_t>, topic: String) {
        let code = unsafe message.pointee.err
        if code.rawValue == Code.fatal {
            callbacks.hasFatal = true
            return
        }
        let text = unsafe rd_kafka_message_errstr(message).map { unsafe String(cString: $0) }
        let error = KafkaError(code, "read", text: text.map(redaction.scrub))
        let partition = unsafe message.pointee.partition
        callbacks.events.append(
            .failed(error, partition: topic.isEmpty ? nil : TopicPartition(topic, partition))
        )
    }
}

/// Wakes a lane that waits in `poll(2)`.
enum Wakeup {
    /// The corresponding C function is `rd_kafka_queue_io_event_enable`, which copies the payload.
    static func enable(_ queue: OpaquePointer, _ descriptor: Int32) {
        // An eventfd takes an addend of 8 bytes in native order.
        unsafe withUnsafeBytes(of: UInt64(1)) { payload in
            unsafe rd_kafka_queue_io_event_enable(queue, descriptor, payload.baseAddress, payload.count)
        }
    }
}
