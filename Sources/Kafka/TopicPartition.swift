import Crdkafka

/// One partition of one topic.
package struct TopicPartition: Hashable, Sendable {
    package let topic: String
    package let partition: Int32

    package init(_ topic: String, _ partition: Int32) {
        self.topic = topic
        self.partition = partition
    }
}

extension TopicPartition: CustomStringConvertible {
    package var description: String { "\(topic)[\(partition)]" }
}

/// A place in a partition.
///
/// As a committed offset it is the next record to read, not the last one read.
package struct TopicPartitionOffset: Hashable, Sendable {
    package let topic: String
    package let partition: Int32
    package var offset: Int64

    package init(_ topic: String, _ partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    package init(_ place: TopicPartition, offset: Int64) {
        self.init(place.topic, place.partition, offset: offset)
    }

    package var place: TopicPartition { TopicPartition(topic, partition) }

    /// For ``Consumer/assign(_:)`` and ``Consumer/seek(to:timeout:)``: the oldest record that the broker holds.
    package static let beginning = Int64(RD_KAFKA_OFFSET_BEGINNING)
    /// For ``Consumer/assign(_:)`` and ``Consumer/seek(to:timeout:)``: behind the newest record.
    package static let end = Int64(RD_KAFKA_OFFSET_END)
    /// For ``Consumer/assign(_:)``: where the group has committed, else `auto.offset.reset`.
    package static let committed = Int64(RD_KAFKA_OFFSET_STORED)
}

/// Owns an `rd_kafka_topic_partition_list_t`.
///
/// The corresponding C functions are `rd_kafka_topic_partition_list_new` and its kin.
@safe
struct PartitionList: ~Copyable {
    private let list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    var pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t> { unsafe list }

    init(_ places: some Collection<TopicPartition>) {
        unsafe list = rd_kafka_topic_partition_list_new(Int32(clamping: places.count))
        for place in places {
            unsafe _ = rd_kafka_topic_partition_list_add(list, place.topic, place.partition)
        }
    }

    init(_ offsets: some Collection<TopicPartitionOffset>) {
        unsafe list = rd_kafka_topic_partition_list_new(Int32(clamping: offsets.count))
        for offset in offsets {
            unsafe rd_kafka_topic_partition_list_add(list, offset.topic, offset.partition).pointee.offset =
                offset.offset
        }
    }

    /// Takes over a list that librdkafka made.
    init(taking list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) {
        unsafe self.list = list
    }

    deinit {
        unsafe rd_kafka_topic_partition_list_destroy(list)
    }

    /// The real offsets by partition; logical ones ("none", "invalid") are left out.
    var offsets: [TopicPartition: Int64] { unsafe TopicPartition.offsets(in: list) }

    var places: [TopicPartition] { unsafe TopicPartition.all(in: list) }

    /// The first partition that has an error of its own.
    func check(_ operation: String) throws(KafkaError) {
        try unsafe TopicPartition.check(list, operation)
    }
}

extension TopicPartition {
    static func all(in list: UnsafePointer<rd_kafka_topic_partition_list_t>?) -> [TopicPartition] {
        guard let list = unsafe list else { return [] }
        return (0..<Int(unsafe list.pointee.cnt)).map { index in
            let element = unsafe list.pointee.elems[index]
            return TopicPartition(unsafe String(cString: element.topic), unsafe element.partition)
        }
    }

    static func all(in list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> [TopicPartition] {
        unsafe all(in: UnsafePointer(list))
    }

    static func offsets(in list: UnsafePointer<rd_kafka_topic_partition_list_t>) -> [TopicPartition: Int64] {
        var offsets: [TopicPartition: Int64] = [:]
        for (index, place) in unsafe all(in: list).enumerated() {
            let offset = unsafe list.pointee.elems[index].offset
            if offset >= 0 { offsets[place] = offset }
        }
        return offsets
    }

    static func check(
        _ list: UnsafePointer<rd_kafka_topic_partition_list_t>,
        _ operation: String
    ) throws(KafkaError) {
        for (index, place) in unsafe all(in: list).enumerated() {
            let code = unsafe list.pointee.elems[index].err
            if code.rawValue != Code.none {
                throw KafkaError(code, operation, text: "\(place): \(Code.text(code.rawValue))")
            }
        }
    }
}
