import Crdkafka

extension Admin {
    /// Makes topics.
    ///
    /// - Returns: one outcome a topic, in no promised order; ``KafkaError/isTopicAlreadyThere`` among the errors.
    /// - Throws: when the request as a whole failed.
    ///
    /// The corresponding C function is `rd_kafka_CreateTopics`.
    package func createTopics(
        _ topics: [TopicSpecification],
        timeout: Duration
    ) throws(KafkaError) -> [TopicOutcome] {
        guard !topics.isEmpty else { return [] }
        var requests: [OpaquePointer?] = unsafe []
        defer { for index in unsafe requests.indices { unsafe rd_kafka_NewTopic_destroy(requests[index]) } }
        for topic in topics { try unsafe requests.append(Self.request(topic)) }
        let options = try AdminOptions(client, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout)
        let answers = EventQueue(client)
        unsafe rd_kafka_CreateTopics(
            client.pointer,
            &requests,
            requests.count,
            options.pointer,
            answers.pointer
        )
        let answer = try answers.next(within: timeout, "create topics", for: client)
        try answer.check("create topics", scrubbing: client.redaction)
        guard let result = unsafe rd_kafka_event_CreateTopics_result(answer.pointer) else { return [] }
        var count = 0
        let outcomes = unsafe rd_kafka_CreateTopics_result_topics(result, &count)
        return unsafe Self.outcomes(outcomes, count, "create topic")
    }

    private static func request(_ topic: TopicSpecification) throws(KafkaError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: 256)
        let made = unsafe text.withUnsafeMutableBufferPointer { buffer in
            unsafe rd_kafka_NewTopic_new(
                topic.name,
                topic.partitions,
                topic.replication,
                buffer.baseAddress,
                buffer.count
            )
        }
        guard let made = unsafe made else {
            throw KafkaError(RD_KAFKA_RESP_ERR__INVALID_ARG, "create topic \(topic.name)", text: cText(text))
        }
        for (name, value) in topic.configuration {
            let code = unsafe rd_kafka_NewTopic_set_config(made, name, value)
            if code.rawValue != Code.none {
                unsafe rd_kafka_NewTopic_destroy(made)
                throw KafkaError(code, "create topic \(topic.name)")
            }
        }
        return unsafe made
    }

    /// Deletes topics with all they hold.
    ///
    /// The corresponding C function is `rd_kafka_DeleteTopics`.
    package func deleteTopics(_ topics: [String], timeout: Duration) throws(KafkaError) -> [TopicOutcome] {
        guard !topics.isEmpty else { return [] }
        var requests: [OpaquePointer?] = unsafe topics.map { unsafe rd_kafka_DeleteTopic_new($0) }
        defer {
            for index in unsafe requests.indices { unsafe rd_kafka_DeleteTopic_destroy(requests[index]) }
        }
        let options = try AdminOptions(client, RD_KAFKA_ADMIN_OP_DELETETOPICS, timeout)
        let answers = EventQueue(client)
        unsafe rd_kafka_DeleteTopics(
            client.pointer,
            &requests,
            requests.count,
            options.pointer,
            answers.pointer
        )
        let answer = try answers.next(within: timeout, "delete topics", for: client)
        try answer.check("delete topics", scrubbing: client.redaction)
        guard let result = unsafe rd_kafka_event_DeleteTopics_result(answer.pointer) else { return [] }
        var count = 0
        let outcomes = unsafe rd_kafka_DeleteTopics_result_topics(result, &count)
        return unsafe Self.outcomes(outcomes, count, "delete topic")
    }

    private static func outcomes(
        _ results: UnsafeMutablePointer<OpaquePointer?>?,
        _ count: Int,
        _ operation: String
    ) -> [TopicOutcome] {
        guard let results = unsafe results else { return [] }
        return (0..<count).compactMap { index in
            guard let result = unsafe results[index] else { return nil }
            let name = unsafe String(cString: rd_kafka_topic_result_name(result))
            let code = unsafe rd_kafka_topic_result_error(result)
            if code.rawValue == Code.none { return TopicOutcome(topic: name, error: nil) }
            let text = unsafe rd_kafka_topic_result_error_string(result).map { unsafe String(cString: $0) }
            return TopicOutcome(topic: name, error: KafkaError(code, "\(operation) \(name)", text: text))
        }
    }

    /// The settings of topics, by topic and by name.
    ///
    /// A topic that is not there is missing.
    ///
    /// - Throws: when the request or one topic failed for another reason.
    ///
    /// The corresponding C function is `rd_kafka_DescribeConfigs`.
    package func settings(
        ofTopics topics: [String],
        timeout: Duration
    ) throws(KafkaError) -> [String: [String: TopicSetting]] {
        guard !topics.isEmpty else { return [:] }
        var requests: [OpaquePointer?] = unsafe topics.map {
            unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0)
        }
        defer {
            for index in unsafe requests.indices { unsafe rd_kafka_ConfigResource_destroy(requests[index]) }
        }
        let options = try AdminOptions(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout)
        let answers = EventQueue(client)
        unsafe rd_kafka_DescribeConfigs(
            client.pointer,
            &requests,
            requests.count,
            options.pointer,
            answers.pointer
        )
        let answer = try answers.next(within: timeout, "describe settings", for: client)
        try answer.check("describe settings", scrubbing: client.redaction)
        guard let result = unsafe rd_kafka_event_DescribeConfigs_result(answer.pointer) else { return [:] }
        var count = 0
        guard let resources = unsafe rd_kafka_DescribeConfigs_result_resources(result, &count) else {
            return [:]
        }
        var settings: [String: [String: TopicSetting]] = [:]
        for index in 0..<count {
            guard let resource = unsafe resources[index] else { continue }
            let name = unsafe String(cString: rd_kafka_ConfigResource_name(resource))
            let code = unsafe rd_kafka_ConfigResource_error(resource)
            if Code.unknownTopic.contains(code.rawValue) { continue }
            if code.rawValue != Code.none { throw KafkaError(code, "describe settings of \(name)") }
            settings[name] = unsafe Self.settings(resource)
        }
        return settings
    }

    private static func settings(_ resource: OpaquePointer) -> [String: TopicSetting] {
        var count = 0
        guard let entries = unsafe rd_kafka_ConfigResource_configs(resource, &count) else { return [:] }
        var settings: [String: TopicSetting] = [:]
        for index in 0..<count {
            guard let entry = unsafe entries[index] else { continue }
            let name = unsafe String(cString: rd_kafka_ConfigEntry_name(entry))
            settings[name] = TopicSetting(
                value: unsafe rd_kafka_ConfigEntry_value(entry).map { unsafe String(cString: $0) },
                isDefault: unsafe rd_kafka_ConfigEntry_source(entry)
                    != RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG
            )
        }
        return settings
    }
}
