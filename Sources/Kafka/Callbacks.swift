import Crdkafka

/// What librdkafka's callbacks leave for the owner of a client to find.
///
/// Every callback here runs inside a call that the owner makes (`rd_kafka_poll`, the batch call, a flush, a close)
/// and so on its thread: no lock is needed. They copy, set state and return. The one exception is the rebalance
/// callback, which must answer librdkafka, and may.
///
/// C holds an unretained pointer to the object as the client's opaque; ``Client`` keeps the object until the client
/// is destroyed.
@safe
final class Callbacks {
    let redaction: Redaction
    let log: LogSink?

    /// Errors that concern the client as a whole, such as an unreachable broker; bounded, the oldest stay.
    private(set) var troubles: [KafkaError] = []
    private static let troubleLimit = 32

    // Producer
    var deliveries: [Delivery] = []
    var deliveredCount: UInt64 = 0
    var failedCount: UInt64 = 0
    var lastFailure: KafkaError?

    // Consumer
    var consumerQueue: OpaquePointer?
    var events: [ConsumerEvent] = []
    /// Partitions that librdkafka has taken back and that the lane has not let go of yet.
    var unanswered: [TopicPartition] = []
    var isClosing = false
    /// A fatal error was seen; ``Client/fatalError`` says which.
    var hasFatal = false

    init(redaction: Redaction, log: LogSink?) {
        self.redaction = redaction
        self.log = log
    }

    /// Remembers an error of the client.
    func note(_ trouble: KafkaError) {
        if troubles.count < Self.troubleLimit { troubles.append(trouble) }
    }

    /// Why the brokers do not let the client in, if that is what keeps it from them.
    var noEntry: KafkaError? { troubles.first { Code.noEntry.contains($0.code) } }

    func takeTroubles() -> [KafkaError] {
        defer { troubles.removeAll() }
        return troubles
    }

    func takeEvents() -> [ConsumerEvent] {
        if !troubles.isEmpty {
            events += takeTroubles().map { .failed($0, partition: nil) }
        }
        if events.isEmpty { return [] }
        defer { events.removeAll() }
        return events
    }

    /// Makes `conf` call back to this object.
    func install(in conf: OpaquePointer, for role: Client.Role) {
        unsafe rd_kafka_conf_set_opaque(conf, Unmanaged.passUnretained(self).toOpaque())
        unsafe rd_kafka_conf_set_error_cb(conf, onError)
        unsafe rd_kafka_conf_set_log_cb(conf, log == nil ? nil : onLog)
        switch role {
        case .consumer: unsafe rd_kafka_conf_set_rebalance_cb(conf, onRebalance)
        case .producer: unsafe rd_kafka_conf_set_dr_msg_cb(conf, onDelivery)
        case .administrator: break
        }
    }

    /// The object that ``install(in:for:)`` gave to C.
    fileprivate static func find(_ opaque: UnsafeMutableRawPointer?) -> Callbacks? {
        guard let opaque = unsafe opaque else { return nil }
        return unsafe Unmanaged<Callbacks>.fromOpaque(opaque).takeUnretainedValue()
    }
}

private func onError(
    client: OpaquePointer?,
    code: Int32,
    reason: UnsafePointer<CChar>?,
    opaque: UnsafeMutableRawPointer?
) {
    guard let callbacks = unsafe Callbacks.find(opaque) else { return }
    // A fatal one is found by asking for it (Client.fatalError), with its real code.
    if code == Code.fatal {
        callbacks.hasFatal = true
        return
    }
    let text = unsafe reason.map { unsafe String(cString: $0) }
    callbacks.note(
        KafkaError(rd_kafka_resp_err_t(rawValue: code), "client", text: text.map(callbacks.redaction.scrub))
    )
}

private func onLog(
    client: OpaquePointer?,
    level: Int32,
    facility: UnsafePointer<CChar>?,
    text: UnsafePointer<CChar>?
) {
    guard let client = unsafe client, let callbacks = unsafe Callbacks.find(rd_kafka_opaque(client)) else {
        return
    }
    callbacks.log?(
        LogLine(
            level: level,
            facility: unsafe facility.map { unsafe String(cString: $0) } ?? "",
            text: callbacks.redaction.scrub(unsafe text.map { unsafe String(cString: $0) } ?? "")
        )
    )
}

private func onDelivery(
    client: OpaquePointer?,
    message: UnsafePointer<rd_kafka_message_t>?,
    opaque: UnsafeMutableRawPointer?
) {
    guard let callbacks = unsafe Callbacks.find(opaque), let message = unsafe message else { return }
    let id = UInt64(UInt(bitPattern: unsafe message.pointee._private))
    let code = unsafe message.pointee.err
    if code.rawValue == Code.none {
        callbacks.deliveredCount &+= 1
        if id == 0 { return }
        let (partition, offset) = unsafe (message.pointee.partition, message.pointee.offset)
        callbacks.deliveries.append(Delivery(id: id, outcome: .written(partition: partition, offset: offset)))
        return
    }
    callbacks.failedCount &+= 1
    let error = KafkaError(code, "deliver")
    callbacks.lastFailure = error
    if id == 0 { return }
    let isPossiblyWritten = unsafe rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED
    callbacks.deliveries.append(
        Delivery(id: id, outcome: .failed(error, isPossiblyWritten: isPossiblyWritten))
    )
}

/// Takes an assignment at once; a revocation is written down and stays open until the lane answers it.
///
/// librdkafka waits in its state "wait-unassign-call" meanwhile, with the partitions paused, heartbeats going on and
/// commits possible, exactly as it does for those who take rebalances as events.
/// `rd_kafka_queue_yield` ends the batch call that this runs in, so that the lane hears of it at once.
private func onRebalance(
    client: OpaquePointer?,
    code: rd_kafka_resp_err_t,
    partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
    opaque: UnsafeMutableRawPointer?
) {
    guard let callbacks = unsafe Callbacks.find(opaque) else { return }
    let list = unsafe TopicPartition.all(in: partitions)
    switch code {
    case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
        let result = unsafe rd_kafka_assign(client, partitions)
        if result.rawValue == Code.none {
            callbacks.events.append(.assigned(list))
        } else {
            callbacks.note(KafkaError(result, "assign"))
        }
    case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS where !list.isEmpty && !callbacks.isClosing:
        callbacks.unanswered += list
        let isLost = unsafe rd_kafka_assignment_lost(client) != 0
        callbacks.events.append(isLost ? .lost(list) : .revoked(list))
    default:
        unsafe _ = rd_kafka_assign(client, nil)
    }
    if let queue = unsafe callbacks.consumerQueue { unsafe rd_kafka_queue_yield(queue) }
}
