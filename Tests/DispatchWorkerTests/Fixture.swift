import DispatchWorker
import Kafka
import Lanes
import LocalServices
import Postgres
import Push
import Schema
import Support
import Telemetry

/// A database and topics of a test's own, on the shared servers.
final class Fixture {
    let topics: TopicCatalogue
    let registry = Registry()
    let bootstrapServers: String
    let partitions: Int32
    private let databaseURL: String
    private var connection: Connection

    /// Retries that come soon: what takes minutes in production takes a moment here.
    static let delays: [Duration] = [.milliseconds(100), .milliseconds(200), .milliseconds(400)]

    /// Without `deadLetters` there is no topic for them.
    init(partitions: Int32 = 1, deadLetters: Bool = true, delays: [Duration] = delays) throws {
        self.partitions = partitions
        topics = TopicCatalogue(prefix: "\(uniqueName("dispatch"))-", retryDelays: delays)
        bootstrapServers = try KafkaService.shared().bootstrapServers
        databaseURL = try PostgresService.freshDatabase()
        connection = try Connection(connectingTo: Postgres.Configuration(databaseURL))
        _ = try Migrator().apply(to: &connection)
        try createTopics(
            [topics.notifications] + topics.retries + (deadLetters ? [topics.notificationDeadLetters] : [])
        )
    }

    var kafka: Kafka.Configuration { Kafka.Configuration(["bootstrap.servers": bootstrapServers]) }

    func createTopics(
        _ names: [String],
        partitions: Int32? = nil,
        configuration: [String: String] = [:]
    ) throws {
        let admin = try Admin(kafka)
        let topics = names.map {
            TopicSpecification($0, partitions: partitions ?? self.partitions, configuration: configuration)
        }
        let outcomes = try admin.createTopics(topics, timeout: .seconds(60))
        if let error = outcomes.compactMap(\.error).first { throw error }
    }

    /// Settings with short pauses, so that what takes minutes in production takes a moment here.
    func settings() throws -> DispatchSettings {
        var settings = DispatchSettings(kafka: kafka, database: try Postgres.Configuration(databaseURL))
        settings.topics = topics
        settings.instance = "test"
        settings.commitInterval = .milliseconds(50)
        settings.gatewayRefresh = .milliseconds(100)
        settings.rejectionLook = .milliseconds(250)
        settings.certificateLook = .milliseconds(100)
        settings.attempts = 1000
        settings.outbound.breaker.pause = .milliseconds(50)
        settings.outbound.breaker.maximumPause = .milliseconds(200)
        settings.outbound.confirmationPause = .milliseconds(100)
        return settings
    }

    // MARK: - Database

    func execute(_ sql: String) throws { try connection.executeScript(sql) }

    func allow(
        _ origin: String,
        dialect: Dialect = .gematik12,
        authorities: String? = nil,
        client: TestAuthority.Pair? = nil
    ) throws {
        try connection.execute(
            """
            INSERT INTO gateways (origin, dialect, allow_private, insecure, ca_file, client_certificate_file, client_key_file)
            VALUES ($1, $2, true, true, $3, $4, $5)
            """,
            [
                .text(origin), .text(dialect.rawValue), .text(authorities), .text(client?.certificate),
                .text(client?.key),
            ]
        )
    }

    /// Registers the pusher that `draft` is for.
    func register(_ draft: Draft, at origin: String, registered: Int64) throws {
        var id: [UInt8] = []
        draft.pusher.uuid.appendBytes(to: &id)
        try connection.execute(
            """
            INSERT INTO pushers (user_id, pusher_id, app_id, pushkey, app_display_name, device_display_name, lang, url,
                gateway_origin, registered_at)
            VALUES ($1, $2, 'com.example.app', $3, 'App', 'Device', 'de', $4, $5, $6)
            """,
            [
                .text(draft.user), .uuid(id), .text(draft.pushkey), .text("\(origin)/push/v1/"),
                .text(origin),
                .timestampMilliseconds(registered),
            ]
        )
    }

    /// Registers those that are not there yet, all at once.
    func register(_ drafts: [Draft]) throws {
        let rows = drafts.map { draft in
            "('\(draft.user)', '\(draft.pusher)', 'com.example.app', '\(draft.pushkey)', 'App', 'Device', 'de', "
                + "'\(draft.origin)/push/v1/', '\(draft.origin)', to_timestamp(\(draft.registered / 1000)))"
        }
        guard !rows.isEmpty else { return }
        try execute(
            """
            INSERT INTO pushers (user_id, pusher_id, app_id, pushkey, app_display_name, device_display_name, lang, url,
                gateway_origin, registered_at)
            VALUES \(rows.joined(separator: ",")) ON CONFLICT DO NOTHING
            """
        )
    }

    func pushkeys() throws -> [String] {
        let rows = try connection.query("SELECT pushkey FROM pushers ORDER BY pushkey")
        return try (0..<rows.count).map { try rows.text($0, 0) }
    }

    /// The first column of the first row.
    func text(_ sql: String) throws -> String {
        let rows = try connection.query(sql)
        return rows.count == 0 ? "" : try rows.text(0, 0)
    }

    // MARK: - Kafka

    /// With `registering`, for pushers that are there, as a retry wants them to be.
    func publish(_ drafts: [Draft], registering: Bool = false) throws {
        if registering { try register(drafts) }
        try publish(drafts.map(\.record))
    }

    /// With `transaction`, as the encrypt stage does: a marker follows in each partition.
    func publish(_ records: [RawRecord], to topic: String? = nil, transaction: Bool = false) throws {
        var producer = try Producer(
            transaction ? kafka.setting("transactional.id", uniqueName("publisher")) : kafka
        )
        if transaction {
            try producer.initTransactions(timeout: .seconds(60))
            try producer.beginTransaction()
        }
        for record in records {
            try producer.produce(
                topic: topic ?? topics.notifications,
                key: record.key,
                value: record.value,
                headers: record.headers
            )
        }
        if transaction {
            try producer.commitTransaction(timeout: .seconds(60))
        } else {
            try producer.flush(timeout: .seconds(60))
        }
    }

    /// Notifications that the group has not committed, by the broker's word.
    func lag() throws -> Int64 { try lag(of: topics.dispatchGroup, places(topics.notifications)) }

    /// What waits in the retry topics, by the broker's word.
    func retryLag() throws -> Int64 { try lag(of: topics.retryGroup, topics.retries.flatMap(places)) }

    private func lag(of group: String, _ places: [TopicPartition]) throws -> Int64 {
        let committed = try committed(by: group, places)
        let admin = try Admin(kafka)
        return try places.reduce(0) { lag, place in
            lag + (try end(of: place, admin)) - max(0, committed[place] ?? 0)
        }
    }

    /// Behind the newest record; a partition that was made a moment ago may not have a leader yet.
    private func end(of place: TopicPartition, _ admin: borrowing Admin) throws -> Int64 {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            do throws(KafkaError) {
                return try admin.watermarks(place, timeout: .seconds(30)).high
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
            }
        }
    }

    /// What the group has committed.
    ///
    /// Asked by a consumer that is no member: asked as an administrator while a fresh broker's coordinator is not ready yet,
    /// librdkafka's `ListConsumerGroupOffsets` crashes (confluentinc/librdkafka issue 5040).
    func committed() throws -> [TopicPartition: Int64] {
        try committed(by: topics.dispatchGroup, places(topics.notifications))
    }

    private func committed(by group: String, _ places: [TopicPartition]) throws -> [TopicPartition: Int64] {
        let reader = try Consumer(kafka.setting("group.id", group))
        return try reader.committed(places, timeout: .seconds(30))
    }

    private func places(_ topic: String) -> [TopicPartition] {
        (0..<partitions).map { TopicPartition(topic, $0) }
    }

    func deadLetters() throws -> [Record] { try records(on: topics.notificationDeadLetters) }

    func reasons() throws -> [String] {
        try deadLetters().compactMap { $0.headers.text("x-dlq-reason") }.sorted()
    }

    /// Everything on `topic`.
    func records(on topic: String, partitions: Int32? = nil) throws -> [Record] {
        var consumer = try Consumer(kafka.setting("group.id", uniqueName("reader")))
        let places = (0..<(partitions ?? self.partitions)).map { TopicPartition(topic, $0) }
        try consumer.assign(places.map { TopicPartitionOffset($0, offset: TopicPartitionOffset.beginning) })
        let admin = try Admin(kafka)
        let ends = try places.map { try end(of: $0, admin) }
        var records: [Record] = []
        try eventually("\(topic) is read to its end") {
            _ = try consumer.poll(into: &records, limit: 10_000, wait: .milliseconds(50))
            let positions = try consumer.position(places)
            return zip(places, ends).allSatisfy { place, end in end == 0 || (positions[place] ?? 0) >= end }
        }
        return records
    }

    // MARK: - Lanes

    /// Runs lanes while `body` does, and stops them in order.
    func running(
        lanes: Int = 1,
        _ settings: DispatchSettings? = nil,
        _ body: (RunningLanes) throws -> Void
    ) throws {
        let running = try RunningLanes(settings ?? self.settings(), lanes: lanes, registry: registry)
        do { try body(running) } catch {
            try? running.stop()
            throw error
        }
        try running.stop()
    }

    /// Runs lanes until nothing is left to commit.
    func drain(lanes: Int = 1, _ settings: DispatchSettings? = nil) throws {
        try running(lanes: lanes, settings) { _ in try untilDone() }
    }

    func untilDone() throws {
        // A record leaves the one before it comes to the other.
        try eventually("all notifications are read and committed, retries too") {
            try lag() == 0 && retryLag() == 0
        }
    }

    /// The value of a counter or gauge; several series of the name are added up.
    func metric(_ name: String) -> Int {
        let text = String(decoding: registry.render(), as: UTF8.self)
        return text.split(separator: "\n").compactMap { line -> Int? in
            guard line.hasPrefix(name + " ") || line.hasPrefix(name + "{") else { return nil }
            return line.split(separator: " ").last.flatMap { Int($0) }
        }.reduce(0, +)
    }

    /// Lanes' destinations at a gateway to which nothing leaves, by reason.
    func stopped(_ gateway: TestGateway) -> [String: Int] {
        let text = String(decoding: registry.render(), as: UTF8.self)
        let prefix = #"posthorn_dispatch_gateway_stopped{gateway="\#(gateway.origin)",reason=""#
        var stopped: [String: Int] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix(prefix) {
            let rest = line.dropFirst(prefix.count)
            guard let quote = rest.firstIndex(of: "\""), let count = rest.split(separator: " ").last else {
                continue
            }
            if let count = Int(count), count != 0 { stopped[String(rest[..<quote])] = count }
        }
        return stopped
    }

    func outcome(_ name: String) -> Int {
        metric(#"posthorn_dispatch_notifications_total{outcome="\#(name)"}"#)
    }

    /// What was received less what has ended in one of the ways or is in flight; 0 if the books balance.
    var imbalance: Int {
        metric("posthorn_dispatch_received_total") - metric("posthorn_dispatch_notifications_total")
            - metric("posthorn_dispatch_in_flight")
    }
}

/// Lanes on threads of their own, as the worker runs them.
final class RunningLanes {
    let statuses: [LaneStatus]
    private let stopFlag: StopFlag
    private let group: LaneGroup<Void, DispatchError>

    init(_ settings: DispatchSettings, lanes: Int, registry: Registry) throws {
        let stopFlag = try StopFlag()
        let metrics = DispatchMetrics(registry, lanes: lanes)
        let log = Log(level: .error, style: .json)
        let statuses = LaneStatus.lanes(named: "dispatch", count: lanes)
        self.stopFlag = stopFlag
        self.statuses = statuses
        group = try LaneGroup(statuses, policy: .goOn, stop: stopFlag) { context throws(DispatchError) in
            try DispatchLane.run(settings, context: context, metrics: metrics, log: log)
        }
    }

    /// Stops them in order; throws what a lane failed with.
    func stop() throws {
        stopFlag.raise()
        for outcome in group.join(within: .seconds(60)) {
            switch outcome {
            case .finished: break
            case .failed(let error): throw error
            case .unfinished: throw LaneStillRuns()
            }
        }
    }
}

private struct LaneStillRuns: Error {}

extension Now {
    /// Unix milliseconds.
    static func wallMilliseconds() -> Int64 { WallClock.milliseconds() }
}
