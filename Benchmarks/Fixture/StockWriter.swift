internal import Kafka
internal import Lanes
internal import Postgres
internal import Push

/// Writes a stock to its topic.
struct StockWriter {
    let stock: Stock
    let kafka: Kafka.Configuration
    let origins: [String]

    func write(_ count: Int, for pushers: [RegisteredPusher]) throws {
        try createTopics()
        var producer = try Producer(
            kafka.setting("linger.ms", "50").setting("compression.type", "lz4")
                .setting("partitioner", "murmur2_random")
        )
        var random = SystemRandomNumberGenerator()
        let ciphertexts = (0..<PrebuiltRecord.variety).map { _ in PrebuiltRecord.ciphertext(using: &random) }
        let endpoints = origins.prefix(stock.gateways).map { origin in
            var endpoint: [UInt8] = []
            NotificationFormat.gematik12Encrypted.appendEndpoint(
                url: GatewayRow.url(origin).utf8.span,
                to: &endpoint
            )
            return endpoint
        }
        let story = stock == .letters ? failure().headers() : []
        for number in 0..<count {
            let record = PrebuiltRecord(
                number,
                for: pushers[number % pushers.count],
                ciphertext: ciphertexts[number % ciphertexts.count],
                endpoint: endpoints[number % endpoints.count],
                now: WallClock.milliseconds(),
                using: &random
            )
            var headers = record.headers
            for header in story { headers.append(name: header.name, header.value) }
            try producer.produce(topic: stock.topic, key: record.key, value: record.value, headers: headers)
        }
        try producer.flush(timeout: .seconds(300))
        if let failure = producer.lastFailure { throw failure }
    }

    private func createTopics() throws {
        let specifications = stock.topics.topics(partitions: Int(EventTopics.partitions)).map {
            TopicSpecification($0.name, partitions: Int32($0.partitions), configuration: $0.settings)
        }
        let outcomes = try Admin(kafka).createTopics(specifications, timeout: .seconds(60))
        if let error = outcomes.compactMap(\.error).first { throw error }
    }

    /// What a dead letter tells of its failure.
    private func failure() -> FailureHistory {
        let now = Timestamp(milliseconds: WallClock.milliseconds())
        var history = FailureHistory()
        history.attempts = 10
        history.note(
            .outOfAttempts,
            detail: "server_error: status 503",
            httpStatus: 503,
            stage: .dispatch,
            at: RecordPlace(
                topic: stock.topics.notifications,
                partition: 0,
                offset: 0,
                timestamp: now.milliseconds,
                consumerGroup: stock.topics.dispatchGroup
            ),
            now: now
        )
        return history
    }
}

/// What a notification says of its pusher.
struct RegisteredPusher {
    let user: String
    let id: UUIDBytes
    let month: Month
    let registered: Timestamp

    /// Some that are registered, the same every time.
    static func some(_ limit: Int, from url: String) throws -> [RegisteredPusher] {
        var connection = try Connection(connectingTo: Postgres.Configuration(url))
        let rows = try connection.query(
            """
            SELECT user_id, pusher_id, chain_month, registered_at FROM pushers
            ORDER BY user_id, pusher_id LIMIT \(limit)
            """
        )
        return try (0..<rows.count).map { row in
            let bytes = try rows.uuid(row, 1)
            guard let id = UUIDBytes(bytes: bytes.span),
                let month = Month(ordinal: try rows.int4(row, 2))
            else { throw BenchmarkError.unavailable("a pusher in the database makes no sense") }
            return RegisteredPusher(
                user: try rows.text(row, 0),
                id: id,
                month: month,
                registered: Timestamp(milliseconds: try rows.timestampMilliseconds(row, 3))
            )
        }
    }
}
