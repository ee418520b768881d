/// The header names by which Spring for Apache Kafka marks dead letters, and tools such as kafka-ui filter.
///
/// Written beside our own where ``DeadLetterNaming/spring`` is set; numbers are big-endian as Spring writes them. They are recognised
/// whether it is set or not, so that a record that comes back never has them twice.
///
/// Source: Spring for Apache Kafka, `KafkaHeaders` and `DeadLetterPublishingRecoverer`.
package enum SpringHeader: String, Hashable, Sendable, CaseIterable {
    case originalTopic = "kafka_dlt-original-topic"
    /// 4 bytes.
    case originalPartition = "kafka_dlt-original-partition"
    /// 8 bytes.
    case originalOffset = "kafka_dlt-original-offset"
    /// 8 bytes, Unix milliseconds.
    case originalTimestamp = "kafka_dlt-original-timestamp"
    case originalConsumerGroup = "kafka_dlt-original-consumer-group"
    /// Spring has the name of a class here; we have `posthorn.` and the reason.
    case exceptionName = "kafka_dlt-exception-fqcn"
    case exceptionMessage = "kafka_dlt-exception-message"

    /// Whether `name` is one of these, so that it is rewritten and not copied.
    package static func isOne(_ name: String) -> Bool {
        name.utf8.starts(with: "kafka_dlt-".utf8) && SpringHeader(rawValue: name) != nil
    }
}

/// Which names a dead letter's story has.
package enum DeadLetterNaming: String, Hashable, Sendable, CaseIterable {
    /// ``FailureHeader``.
    case own
    /// These, and ``SpringHeader`` beside them.
    case spring
}

extension FailureHistory {
    /// The story of a dead letter in Spring's names, as far as `budget` bytes reach.
    func springHeaders(budget: Int) -> [RecordHeader] {
        guard let reason else { return [] }
        var fields: [(SpringHeader, [UInt8])] = [
            (.exceptionName, Array("posthorn.\(reason.rawValue)".utf8))
        ]
        if let origin {
            fields += [
                (.originalTopic, Array(origin.topic.utf8)),
                (.originalPartition, Self.bytes(origin.partition)),
                (.originalOffset, Self.bytes(origin.offset)),
                (.originalTimestamp, Self.bytes(origin.timestamp)),
                (.originalConsumerGroup, Array(origin.consumerGroup.utf8)),
            ]
        }
        if !detail.isEmpty { fields.append((.exceptionMessage, Array(detail.utf8))) }
        var rest = budget
        return fields.compactMap { header, value in
            let size = header.rawValue.utf8.count + value.count
            guard size <= rest else { return nil }
            rest -= size
            return RecordHeader(name: header.rawValue, value: value)
        }
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        let width = number.bitWidth / 8
        return (0..<width).map { UInt8(truncatingIfNeeded: number >> ((width - 1 - $0) * 8)) }
    }
}
