import Crdkafka

/// The topic handles of one producer, made once each.
///
/// Looking a topic up by name for every record would take librdkafka's lock and walk its list of topics. The one used
/// last is found without hashing. ``destroy()`` must be called once, before the client is destroyed.
@safe
struct TopicHandles: ~Copyable {
    private var handles: [OpaquePointer]
    private var indices: [String: Int] = [:]
    private var lastName = ""
    private var lastHandle: OpaquePointer?

    init() {
        unsafe handles = []
    }

    /// The corresponding C function is `rd_kafka_topic_new`.
    mutating func find(_ name: String, _ client: borrowing Client) throws(KafkaError) -> OpaquePointer {
        if name == lastName, let lastHandle = unsafe lastHandle { return unsafe lastHandle }
        let handle: OpaquePointer
        if let index = indices[name] {
            unsafe handle = handles[index]
        } else {
            guard let made = unsafe rd_kafka_topic_new(client.pointer, name, nil) else {
                throw KafkaError(rd_kafka_last_error(), "topic \(name)")
            }
            indices[name] = unsafe handles.count
            unsafe handles.append(made)
            unsafe handle = made
        }
        lastName = name
        unsafe lastHandle = handle
        return unsafe handle
    }

    /// The corresponding C function is `rd_kafka_topic_destroy`.
    func destroy() {
        for index in unsafe handles.indices { unsafe rd_kafka_topic_destroy(handles[index]) }
    }
}
