import Crdkafka

/// librdkafka's own broker, inside this process: enough for a demonstration and for tests, never for data.
///
/// It keeps 5 MiB and 100,000 message sets of a partition and drops what is older, takes about 3 s for a group to
/// form, creates topics on first use with 4 partitions, knows no admin calls, no fencing, no aborts, and forgets
/// offsets that come with a transaction (librdkafka 2.0.2). It runs until its owner is gone.
///
/// The corresponding C functions are `rd_kafka_mock_cluster_new` and `rd_kafka_mock_cluster_destroy`.
@safe
package struct MockCluster: ~Copyable {
    private let client: Client
    private let cluster: OpaquePointer
    /// For `bootstrap.servers`.
    package let bootstrapServers: String

    /// - Parameter brokers: how many; from 1 to 16, default 1.
    /// - Throws: when no loopback port could be opened.
    package init(brokers: Int = 1) throws(KafkaError) {
        let client = try Client(.administrator, Configuration(["client.id": "mock"]), log: nil)
        guard
            let cluster = unsafe rd_kafka_mock_cluster_new(
                client.pointer,
                Int32(clamping: min(max(brokers, 1), 16))
            )
        else {
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, "mock cluster")
        }
        bootstrapServers = unsafe String(cString: rd_kafka_mock_cluster_bootstraps(cluster))
        self.client = client
        unsafe self.cluster = cluster
    }

    deinit {
        unsafe rd_kafka_mock_cluster_destroy(cluster)
    }

    /// Creates a topic, which must not be there yet.
    ///
    /// The corresponding C function is `rd_kafka_mock_topic_create`.
    package func createTopic(_ name: String, partitions: Int32 = 1) throws(KafkaError) {
        try client.check(
            unsafe rd_kafka_mock_topic_create(cluster, name, partitions, 1),
            "create topic \(name)"
        )
    }

    /// Makes the brokers refuse the next requests of a kind, one error each, to see how a client takes it.
    ///
    /// - Parameters:
    ///   - apiKey: of the request as in Kafka's protocol, such as 0 for Produce or 28 for TxnOffsetCommit.
    ///   - codes: of `rd_kafka_resp_err_t`, in the order in which they are given out.
    ///
    /// The corresponding C function is `rd_kafka_mock_push_request_errors_array`.
    package func refuseNext(apiKey: Int16, codes: [Int32]) {
        let errors = codes.map { rd_kafka_resp_err_t(rawValue: $0) }
        unsafe errors.withUnsafeBufferPointer { buffer in
            unsafe rd_kafka_mock_push_request_errors_array(cluster, apiKey, buffer.count, buffer.baseAddress)
        }
    }
}
