import Crdkafka

extension Admin {
    /// Deletes the records of partitions that lie before an offset, for good.
    ///
    /// - Parameters:
    ///   - offsets: by partition, the first record that stays; each partition once.
    ///   - timeout: for the answer.
    /// - Returns: the oldest offset of each partition afterwards.
    /// - Throws: what the broker refused, such as `POLICY_VIOLATION` for a compacted topic; partitions named before in the list may
    ///   have been cut all the same.
    ///
    /// The corresponding C function is `rd_kafka_DeleteRecords`.
    package func deleteRecords(
        before offsets: [TopicPartitionOffset],
        timeout: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        guard !offsets.isEmpty else { return [:] }
        let list = PartitionList(offsets)
        var request: OpaquePointer? = unsafe rd_kafka_DeleteRecords_new(list.pointer)
        defer { unsafe rd_kafka_DeleteRecords_destroy(request) }
        let options = try AdminOptions(client, RD_KAFKA_ADMIN_OP_DELETERECORDS, timeout)
        let answers = EventQueue(client)
        unsafe rd_kafka_DeleteRecords(client.pointer, &request, 1, options.pointer, answers.pointer)
        let answer = try answers.next(within: timeout, "delete records", for: client)
        try answer.check("delete records", scrubbing: client.redaction)
        guard let result = unsafe rd_kafka_event_DeleteRecords_result(answer.pointer),
            let left = unsafe rd_kafka_DeleteRecords_result_offsets(result)
        else { return [:] }
        try unsafe TopicPartition.check(left, "delete records")
        return unsafe TopicPartition.offsets(in: left)
    }
}
