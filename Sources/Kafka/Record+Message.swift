import Crdkafka
import Glibc

extension Record {
    /// Copies a message out of librdkafka's hands.
    ///
    /// The corresponding C functions are `rd_kafka_message_timestamp` and `rd_kafka_message_headers`.
    init(copying message: UnsafePointer<rd_kafka_message_t>, topic: String) {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &kind)
        var list: OpaquePointer?
        let code = unsafe rd_kafka_message_headers(message, &list)
        let key = unsafe Self.bytes(message.pointee.key, message.pointee.key_len)
        let value = unsafe Self.bytes(message.pointee.payload, message.pointee.len)
        let keyCount = unsafe key?.count ?? 0
        let valueCount = unsafe value?.count ?? 0
        let isReadable = unsafe code == RD_KAFKA_RESP_ERR__NOENT || list != nil
        self.init(
            topic: topic,
            partition: unsafe message.pointee.partition,
            offset: unsafe message.pointee.offset,
            timestamp: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : timestamp,
            keyRange: unsafe key == nil ? nil : 0..<keyCount,
            valueRange: unsafe value == nil ? nil : keyCount..<keyCount + valueCount,
            headers: unsafe Headers(prefix: key, value, copying: list),
            hasUnreadableHeaders: !isReadable
        )
    }

    private static func bytes(_ base: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeRawBufferPointer? {
        guard let base = unsafe base else { return nil }
        return unsafe UnsafeRawBufferPointer(start: base, count: count)
    }
}

extension Headers {
    /// The headers of a message with its key and value before them, in one allocation.
    ///
    /// The corresponding C function is `rd_kafka_header_get_all`.
    fileprivate init(
        prefix key: UnsafeRawBufferPointer?,
        _ value: UnsafeRawBufferPointer?,
        copying list: OpaquePointer?
    ) {
        let start = unsafe (key?.count ?? 0) + (value?.count ?? 0)
        var (size, count) = (start, 0)
        unsafe Self.forEach(in: list) { name, value in
            size += unsafe Self.size(nameCount: name.count, valueCount: value?.count)
            count += 1
        }
        let storage = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            var position = 0
            if let key = unsafe key {
                unsafe bytes.copyMemory(from: key)
                position = key.count
            }
            if let value = unsafe value {
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[position...]).copyMemory(from: value)
                position += value.count
            }
            unsafe Self.forEach(in: list) { name, value in
                unsafe Self.write(
                    name,
                    value,
                    to: UnsafeMutableRawBufferPointer(rebasing: bytes[position...])
                )
                position += unsafe Self.size(nameCount: name.count, valueCount: value?.count)
            }
            initialized = position
        }
        self.init(storage: storage, start: start, count: count)
    }

    @inline(__always)
    private static func forEach(
        in list: OpaquePointer?,
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> Void
    ) {
        guard let list = unsafe list else { return }
        var index = 0
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var count = 0
        while unsafe rd_kafka_header_get_all(list, index, &name, &value, &count) == RD_KAFKA_RESP_ERR_NO_ERROR
        {
            let nameCount = unsafe name.map { unsafe strlen($0) } ?? 0
            let present = unsafe value == nil ? nil : UnsafeRawBufferPointer(start: value, count: count)
            unsafe body(UnsafeRawBufferPointer(start: name, count: nameCount), present)
            index += 1
        }
    }
}
