import DeadLetters
import Kafka
import Lanes
import LocalServices
import Postgres
import Push
import Schema
import Support

/// A database and topics of a test's own, on the shared servers.
final class Fixture {
    let topics = TopicCatalogue(prefix: "\(uniqueName("letters"))-", retryDelays: [.seconds(1)])
    let witness: KafkaWitness
    let environment: [String: String]
    let desk: Desk
    let databaseURL: String
    private let bootstrapServers: String
    var connection: Connection

    /// `broker` and `databaseURL` are for tests that have servers of their own.
    init(
        partitions: Int32 = 3,
        lease: Duration = .seconds(60),
        broker: PrivateKafka? = nil,
        databaseURL url: String? = nil
    ) throws {
        bootstrapServers = try (broker ?? KafkaService.shared()).bootstrapServers
        databaseURL = try url ?? PostgresService.freshDatabase()
        connection = try Connection(connectingTo: Postgres.Configuration(databaseURL))
        _ = try Migrator().apply(to: &connection)
        witness = try KafkaWitness(bootstrapServers)
        environment = [
            "POSTHORN_KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
            "POSTHORN_DATABASE_URL": databaseURL,
            "POSTHORN_TOPIC_PREFIX": topics.prefix,
            "POSTHORN_OPERATOR": "anna",
        ]
        desk = Desk(
            topics: topics,
            kafka: Kafka.Configuration(["bootstrap.servers": bootstrapServers]),
            operator: "anna",
            lease: lease
        )
        try createTopics(
            [
                topics.triggers, topics.triggerDeadLetters, topics.notifications,
                topics.notificationDeadLetters, topics.parking,
            ] + topics.retries,
            partitions: partitions
        )
        try connection.executeScript(
            """
            INSERT INTO gateways (origin, allow_private, insecure) VALUES
                ('https://gateway.example', false, false), ('https://other.example', false, false);
            INSERT INTO channels (channel_id) VALUES ('news');
            """
        )
    }

    var kafka: Kafka.Configuration { desk.kafka }
    var dispatch: LetterSource { desk.source(.dispatch) }
    var encrypt: LetterSource { desk.source(.encrypt) }
    var parking: LetterSource { desk.source(.parking) }

    func createTopics(_ names: [String], partitions: Int32) throws {
        let admin = try Admin(kafka)
        let made = names.map {
            // The letters are years old.
            TopicSpecification($0, partitions: partitions, configuration: ["retention.ms": "-1"])
        }
        let outcomes = try admin.createTopics(made, timeout: .seconds(60))
        if let error = outcomes.compactMap(\.error).first { throw error }
    }

    // MARK: - Letters

    func publish(_ records: [RawRecord], to topic: String) throws {
        var producer = try Producer(kafka)
        for record in records {
            try producer.produce(
                topic: topic,
                partition: record.partition,
                key: record.key,
                value: record.value,
                headers: record.headers,
                timestamp: record.timestamp
            )
        }
        try producer.flush(timeout: .seconds(60))
    }

    func publish(_ letters: [TestLetter]) throws {
        try publish(letters.map(\.record), to: topics.notificationDeadLetters)
    }

    /// Registers the pushers of letters, with chains that are as new as `chainMonth` says.
    func register(_ letters: [TestLetter], chainMonth: String? = "2026-11") throws {
        var users = ArrayParameter(of: .text)
        var ids = ArrayParameter(of: .uuid)
        var keys = ArrayParameter(of: .text)
        for letter in letters {
            users.append(text: letter.user)
            var id: [UInt8] = []
            letter.pusher.uuid.appendBytes(to: &id)
            ids.append(uuid: id)
            keys.append(text: letter.pushkey)
        }
        try connection.execute(
            """
            INSERT INTO pushers (user_id, pusher_id, app_id, pushkey, app_display_name, device_display_name, lang, url,
                gateway_origin, registered_at, chain_month, chain_key_id, chain_sealed)
            SELECT user_id, pusher_id, 'com.example.app', pushkey, 'App', 'Device', 'de', 'https://gateway.example/push/v1/',
                'https://gateway.example', to_timestamp(1700000000), $4, CASE WHEN $4 IS NOT NULL THEN 'k' END,
                CASE WHEN $4 IS NOT NULL THEN decode(repeat('00', 92), 'hex') END
            FROM unnest($1::text[], $2::uuid[], $3::text[]) AS l (user_id, pusher_id, pushkey)
            """,
            [.array(users), .array(ids), .array(keys), .int4(chainMonth.flatMap { Month($0)?.ordinal })]
        )
    }

    /// Everything on a topic, once what was committed last can be seen: a broker says so before it has marked the partitions.
    func records(on topic: String) throws -> [Record] {
        let committed = try Admin(kafka)
        let written = try Admin(kafka.setting("isolation.level", "read_uncommitted"))
        try eventually("the transactions on \(topic) are marked") {
            try TopicBounds.now(of: topic, committed) == TopicBounds.now(of: topic, written)
        }
        return try witness.records(on: topic)
    }

    /// The ids of the notifications on a topic, in order of partition and offset.
    func ids(on topic: String) throws -> [String] {
        try records(on: topic).compactMap { $0.headers.text("id") }
    }

    // MARK: - Work

    @discardableResult
    func replay(
        _ filter: DeadLetterFilter = DeadLetterFilter(),
        _ rules: ReplayRules = ReplayRules(),
        from source: LetterSource? = nil,
        settings: ReplaySettings = ReplaySettings(),
        observe: @escaping (ReplayProgress) -> Void = { _ in }
    ) throws -> ReplayReport {
        try desk.replay(
            .new(filter, rules),
            from: source ?? dispatch,
            settings,
            in: &connection,
            observe: observe
        )
    }

    func dryRun(
        _ filter: DeadLetterFilter = DeadLetterFilter(),
        _ rules: ReplayRules = ReplayRules(),
        from source: LetterSource? = nil
    ) throws -> ReplayTally {
        try desk.dryRun(filter, rules, from: source ?? dispatch, now: Fixture.now, in: &connection).tally
    }

    /// Letters of the source that are open, in order of partition and offset.
    func open(_ source: LetterSource? = nil) throws -> [Letter] {
        let source = source ?? dispatch
        let (bounds, book) = try desk.look(at: source, in: &connection)
        let choice = LetterChoice(DeadLetterFilter(), book)
        var scan = try desk.scan(source, in: &connection)
        try scan.begin(bounds)
        var open: [Letter] = []
        while let letters = try scan.next(now: Fixture.now) {
            open += letters.filter { choice.takes($0.facts) }
        }
        return open
    }

    static var now: Timestamp { Timestamp(milliseconds: WallClock.milliseconds()) }

    // MARK: - The program

    func posthorn(
        _ words: String...,
        input: String? = nil,
        environment more: [String: String] = [:]
    ) throws -> BuiltProgram.Outcome {
        try BuiltProgram.run(
            ["dead-letters"] + words,
            environment: environment.merging(more) { $1 },
            input: input
        )
    }

    func integer(_ sql: String) throws -> Int64 { try connection.query(sql).int8(0, 0) }
}
