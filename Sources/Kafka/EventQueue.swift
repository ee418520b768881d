import Crdkafka

/// A queue of its own for the answer to one call, so that waiting for it can be bounded.
///
/// An answer that comes after the queue is gone is dropped by librdkafka.
///
/// The corresponding C functions are `rd_kafka_queue_new` and `rd_kafka_queue_poll`.
@safe
struct EventQueue: ~Copyable {
    private let queue: OpaquePointer

    var pointer: OpaquePointer { unsafe queue }

    init(_ client: borrowing Client) {
        unsafe queue = rd_kafka_queue_new(client.pointer)
    }

    deinit {
        unsafe rd_kafka_queue_destroy(queue)
    }

    /// - Throws: `_TIMED_OUT` when no answer came in time.
    func next(within timeout: Duration, _ operation: String) throws(KafkaError) -> Event {
        guard let event = unsafe rd_kafka_queue_poll(queue, timeout.milliseconds) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, operation, text: "no answer in time")
        }
        return unsafe Event(taking: event)
    }

    /// As ``next(within:_:)`` for an administrator, whose troubles nobody else asks for: ends early if the brokers do not let him in.
    func next(
        within timeout: Duration,
        _ operation: String,
        for client: borrowing Client
    ) throws(KafkaError) -> Event {
        let deadline = Deadline(in: timeout)
        while true {
            let wait = min(deadline.remaining, .milliseconds(500))
            if let event = unsafe rd_kafka_queue_poll(queue, wait.milliseconds) {
                return unsafe Event(taking: event)
            }
            unsafe _ = rd_kafka_poll(client.pointer, 0)
            if let reason = client.callbacks.noEntry { throw reason }
            if deadline.hasPassed {
                throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, operation, text: "no answer in time")
            }
        }
    }
}

/// Owns an `rd_kafka_event_t` and with it everything that it points to.
@safe
struct Event: ~Copyable {
    private let event: OpaquePointer

    var pointer: OpaquePointer { unsafe event }

    init(taking event: OpaquePointer) {
        unsafe self.event = event
    }

    deinit {
        unsafe rd_kafka_event_destroy(event)
    }

    /// The error of the request as a whole.
    func check(_ operation: String, scrubbing: Redaction) throws(KafkaError) {
        let code = unsafe rd_kafka_event_error(event)
        if code.rawValue == Code.none { return }
        let text = unsafe rd_kafka_event_error_string(event).map { unsafe String(cString: $0) }
        throw KafkaError(code, operation, text: text.map(scrubbing.scrub))
    }
}
