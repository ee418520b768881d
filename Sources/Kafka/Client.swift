import Crdkafka

/// The one owner of an `rd_kafka_t`; what consumer, producer and administrator have in common.
///
/// It is destroyed without waiting for the group: whoever wants to leave in order closes the consumer first.
///
/// The corresponding C functions are `rd_kafka_new` and `rd_kafka_destroy_flags`.
@safe
struct Client: ~Copyable {
    enum Role {
        case consumer
        case producer
        case administrator
    }

    private let client: OpaquePointer
    let callbacks: Callbacks

    var pointer: OpaquePointer { unsafe client }
    var redaction: Redaction { callbacks.redaction }

    init(_ role: Role, _ configuration: Configuration, log: LogSink?) throws(KafkaError) {
        let settings = ClientSettings()
        for (name, value) in configuration.properties(over: role.defaults) {
            try settings.set(name, value)
        }
        let callbacks = Callbacks(redaction: configuration.redaction, log: log)
        // rd_kafka_new takes the copy over only if it succeeds.
        let conf = unsafe settings.copy()
        if log != nil { unsafe _ = rd_kafka_conf_set(conf, "log.queue", "true", nil, 0) }
        unsafe callbacks.install(in: conf, for: role)
        var text = [CChar](repeating: 0, count: 512)
        let made = unsafe text.withUnsafeMutableBufferPointer { buffer in
            unsafe rd_kafka_new(role.type, conf, buffer.baseAddress, buffer.count)
        }
        guard let made = unsafe made else {
            unsafe rd_kafka_conf_destroy(conf)
            throw .failed(
                KafkaError.Failure(
                    operation: "client",
                    code: Code.invalidArgument,
                    text: callbacks.redaction.scrub(cText(text)),
                    isRetriable: false,
                    isFatal: true,
                    requiresAbort: false
                )
            )
        }
        unsafe client = made
        self.callbacks = callbacks
        // Log lines join the queue that the owner polls: none is written from a thread of librdkafka.
        if log != nil { unsafe _ = rd_kafka_set_log_queue(client, nil) }
    }

    deinit {
        withExtendedLifetime(callbacks) {
            unsafe rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
        }
    }

    /// The error after which the client is of no use, if there was one.
    ///
    /// The corresponding C function is `rd_kafka_fatal_error`.
    var fatalError: KafkaError? {
        var text = [CChar](repeating: 0, count: 512)
        let code = unsafe text.withUnsafeMutableBufferPointer { buffer in
            unsafe rd_kafka_fatal_error(client, buffer.baseAddress, buffer.count)
        }
        guard code.rawValue != Code.none else { return nil }
        return KafkaError(code, "client", text: redaction.scrub(cText(text)), isFatal: true)
    }

    /// Turns a bare code into the module's error.
    func check(_ code: rd_kafka_resp_err_t, _ operation: String) throws(KafkaError) {
        if code.rawValue == Code.none { return }
        if code.rawValue == Code.fatal, let fatalError { throw fatalError }
        throw KafkaError(code, operation)
    }

    /// Turns an error object into the module's error and destroys it; `nil` is success.
    @safe
    func check(_ error: OpaquePointer?, _ operation: String) throws(KafkaError) {
        guard let error = unsafe error else { return }
        throw unsafe KafkaError(taking: error, operation, scrubbing: redaction)
    }
}

extension Client.Role {
    var type: rd_kafka_type_t {
        switch self {
        case .consumer: RD_KAFKA_CONSUMER
        case .producer, .administrator: RD_KAFKA_PRODUCER
        }
    }

    /// What holds where the operator says nothing.
    var defaults: [String: String] {
        switch self {
        case .consumer:
            [
                "enable.auto.commit": "false",
                "enable.auto.offset.store": "false",
                "enable.partition.eof": "false",
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                // What is read ahead is memory, and thrown away by every pause. librdkafka's own 64 MB, 100,000 records and 50 MB a
                // fetch need more than 200 MB once they are unpacked; with ``ReadAhead`` less is as fast.
                "queued.min.messages": String(ReadAhead.defaultRecords),
                "queued.max.messages.kbytes": String(ReadAhead.defaultKilobytes),
                "fetch.max.bytes": "8388608",
            ]
        case .producer:
            ["enable.idempotence": "true"]
        case .administrator:
            [:]
        }
    }
}
