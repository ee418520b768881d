/// One record as it was read; it owns its bytes.
///
/// Key, value and headers lie in one buffer, so that reading costs one allocation and one copy. ``withValue(_:)`` and
/// the lookups of ``headers`` show them in place; ``key`` and ``value`` are copies, made anew each time.
package struct Record: Sendable, Equatable {
    package let topic: String
    package let partition: Int32
    package let offset: Int64
    /// Milliseconds since the Unix epoch; `nil` if the broker gives none.
    package let timestamp: Int64?
    /// In order, with repeats; also the owner of the bytes of key and value, which lie before them.
    package let headers: Headers
    /// The record has headers that librdkafka cannot read (more than 100,000, or a damaged list); `headers` is empty.
    package let hasUnreadableHeaders: Bool
    private let keyRange: Range<Int>?
    private let valueRange: Range<Int>?

    package init(
        topic: String,
        partition: Int32,
        offset: Int64,
        timestamp: Int64?,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: Headers = Headers()
    ) {
        let bytes = (key ?? []) + (value ?? [])
        let keyCount = key?.count ?? 0
        self.init(
            topic: topic,
            partition: partition,
            offset: offset,
            timestamp: timestamp,
            keyRange: key.map { _ in 0..<keyCount },
            valueRange: value.map { _ in keyCount..<bytes.count },
            headers: Headers(
                storage: bytes + headers.storage[headers.start..<headers.end],
                start: bytes.count,
                count: headers.count
            ),
            hasUnreadableHeaders: false
        )
    }

    init(
        topic: String,
        partition: Int32,
        offset: Int64,
        timestamp: Int64?,
        keyRange: Range<Int>?,
        valueRange: Range<Int>?,
        headers: Headers,
        hasUnreadableHeaders: Bool
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.keyRange = keyRange
        self.valueRange = valueRange
        self.headers = headers
        self.hasUnreadableHeaders = hasUnreadableHeaders
    }

    package var place: TopicPartition { TopicPartition(topic, partition) }
    package var isTombstone: Bool { valueRange == nil }

    /// A copy of the key; `nil` is a null key, `[]` an empty one.
    package var key: [UInt8]? { keyRange.map { Array(headers.storage[$0]) } }

    /// A copy of the value; `nil` is a null value, a tombstone.
    package var value: [UInt8]? { valueRange.map { Array(headers.storage[$0]) } }

    /// The key where it lies; `nil` for a null key.
    package func withKey<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard let keyRange else { return nil }
        return body(headers.storage.span.extracting(keyRange))
    }

    /// The value where it lies; `nil` for a null value.
    package func withValue<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard let valueRange else { return nil }
        return body(headers.storage.span.extracting(valueRange))
    }

    /// The number of bytes in the value; `nil` for a null value.
    package var valueCount: Int? { valueRange?.count }

    /// Appends the value to a buffer; a null value appends nothing.
    package func appendValue(to bytes: inout [UInt8]) {
        if let valueRange { bytes.append(contentsOf: headers.storage[valueRange]) }
    }

    package static func == (left: Record, right: Record) -> Bool {
        left.topic == right.topic && left.partition == right.partition && left.offset == right.offset
            && left.timestamp == right.timestamp && left.key == right.key && left.value == right.value
            && left.headers == right.headers && left.hasUnreadableHeaders == right.hasUnreadableHeaders
    }
}
