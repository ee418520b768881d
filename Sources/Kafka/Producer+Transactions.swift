import Crdkafka

/// Transactions: what is produced between begin and commit, and the offsets sent with it, become visible together or
/// not at all.
///
/// ```
/// initTransactions ─▶ begin ─▶ produce…, sendOffsets ─▶ commit ─▶ begin …
///                                    └───────────────▶ abort  ─▶ begin …
/// ```
///
/// What an error asks for: ``KafkaError/isRetriable``, call the same verb again; ``KafkaError/requiresAbort``, abort,
/// rewind the consumer and begin anew; ``KafkaError/isFatal`` (being fenced is one), drop the producer.
///
/// With ``MockCluster`` the calls succeed, but offsets sent with a transaction are not kept, an abort does not hide
/// what was written, and nobody is fenced (librdkafka 2.0.2).
extension Producer {
    /// Registers the `transactional.id`, fences an earlier holder and finishes what it left open.
    ///
    /// Once, before anything else. A retriable error asks for another call.
    ///
    /// The corresponding C function is `rd_kafka_init_transactions`.
    package mutating func initTransactions(timeout: Duration) throws(KafkaError) {
        try client.check(
            unsafe rd_kafka_init_transactions(client.pointer, timeout.milliseconds),
            "init transactions"
        )
    }

    /// The corresponding C function is `rd_kafka_begin_transaction`.
    package mutating func beginTransaction() throws(KafkaError) {
        try client.check(unsafe rd_kafka_begin_transaction(client.pointer), "begin transaction")
    }

    /// Makes the consumer's offsets part of the transaction.
    ///
    /// - Parameters:
    ///   - offsets: the next record to read, by partition; none is no call.
    ///   - group: of the consumer that read them, taken within this transaction.
    ///   - timeout: for the broker's answer.
    /// - Throws: ``KafkaError/requiresAbort`` when the group has moved on from that member.
    ///
    /// The corresponding C function is `rd_kafka_send_offsets_to_transaction`.
    package mutating func sendOffsets(
        _ offsets: [TopicPartitionOffset],
        group: borrowing GroupMetadata,
        timeout: Duration
    ) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try client.check(
            unsafe rd_kafka_send_offsets_to_transaction(
                client.pointer,
                list.pointer,
                group.pointer,
                timeout.milliseconds
            ),
            "send offsets"
        )
    }

    /// Flushes and commits.
    ///
    /// A record that could not be written makes it fail with ``KafkaError/requiresAbort``.
    ///
    /// The corresponding C function is `rd_kafka_commit_transaction`.
    package mutating func commitTransaction(timeout: Duration) throws(KafkaError) {
        try client.check(
            unsafe rd_kafka_commit_transaction(client.pointer, timeout.milliseconds),
            "commit transaction"
        )
    }

    /// Purges what is not written and aborts.
    ///
    /// The consumer still has to be sought back to where it was.
    ///
    /// The corresponding C function is `rd_kafka_abort_transaction`.
    package mutating func abortTransaction(timeout: Duration) throws(KafkaError) {
        try client.check(
            unsafe rd_kafka_abort_transaction(client.pointer, timeout.milliseconds),
            "abort transaction"
        )
    }
}
