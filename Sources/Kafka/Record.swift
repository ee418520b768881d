import Crdkafka

/// One record as it was read; it owns its bytes.
package struct Record: Sendable, Equatable {
    package let topic: String
    package let partition: Int32
    package let offset: Int64
    /// Milliseconds since the Unix epoch; `nil` if the broker gives none.
    package let timestamp: Int64?
    /// `nil` is a null key, `[]` an empty one.
    package let key: [UInt8]?
    /// `nil` is a null value: a tombstone.
    package let value: [UInt8]?
    package let headers: Headers
    /// The record has headers that librdkafka cannot read (more than 100,000, or a damaged list); `headers` is empty.
    package let hasUnreadableHeaders: Bool

    package init(
        topic: String,
        partition: Int32,
        offset: Int64,
        timestamp: Int64?,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: Headers = Headers(),
        hasUnreadableHeaders: Bool = false
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
        self.hasUnreadableHeaders = hasUnreadableHeaders
    }

    package var place: TopicPartition { TopicPartition(topic, partition) }
    package var isTombstone: Bool { value == nil }
}

extension Record {
    /// Copies a message out of librdkafka's hands.
    ///
    /// The corresponding C functions are `rd_kafka_message_timestamp` and `rd_kafka_message_headers`.
    init(copying message: UnsafePointer<rd_kafka_message_t>, topic: String) {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &kind)
        let (headers, isReadable) = unsafe Headers.copying(message)
        self.init(
            topic: topic,
            partition: unsafe message.pointee.partition,
            offset: unsafe message.pointee.offset,
            timestamp: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : timestamp,
            key: unsafe copyBytes(message.pointee.key, message.pointee.key_len),
            value: unsafe copyBytes(message.pointee.payload, message.pointee.len),
            headers: headers,
            hasUnreadableHeaders: !isReadable
        )
    }
}

extension Headers {
    /// The headers of a message, in one allocation.
    ///
    /// The corresponding C functions are `rd_kafka_message_headers` and `rd_kafka_header_get_all`.
    fileprivate static func copying(
        _ message: UnsafePointer<rd_kafka_message_t>
    ) -> (Headers, isReadable: Bool) {
        var list: OpaquePointer?
        let code = unsafe rd_kafka_message_headers(message, &list)
        guard code.rawValue == Code.none, let list = unsafe list else {
            return (Headers(), code == RD_KAFKA_RESP_ERR__NOENT || code.rawValue == Code.none)
        }
        var headers = Headers()
        let count = unsafe rd_kafka_header_cnt(list)
        headers.reserve(64 * count)
        var index = 0
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        while unsafe rd_kafka_header_get_all(list, index, &name, &value, &size).rawValue == Code.none {
            unsafe headers.append(name: name, value: value, count: size)
            index += 1
        }
        return (headers, true)
    }
}
