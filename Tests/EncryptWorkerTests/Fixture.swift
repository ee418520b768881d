import EncryptWorker
import Kafka
import KeyChains
import Lanes
import LocalServices
import Postgres
import Push
import Schema
import Sealing
import Support
import Telemetry

/// A database and topics of a test's own, on the shared servers, with a gateway, three channels and what the test registers.
final class Fixture {
    let databaseURL: String
    let topics = TopicCatalogue(prefix: "\(uniqueName("encrypt"))-")
    let registry = Registry()
    let bootstrapServers: String
    private let folder: TemporaryFolder
    private let partitions: Int32
    private var connection: Connection
    /// Asks what the group has committed, without being a member.
    private let groupReader: Consumer

    var keyFile: String { "\(folder.path)/keys" }

    init(partitions: Int32 = 4) throws {
        self.partitions = partitions
        bootstrapServers = try KafkaService.shared().bootstrapServers
        databaseURL = try PostgresService.freshDatabase()
        folder = try TemporaryFolder()
        connection = try Connection(connectingTo: Postgres.Configuration(databaseURL))
        groupReader = try Consumer(
            Kafka.Configuration(["bootstrap.servers": bootstrapServers, "group.id": topics.encryptGroup])
        )
        _ = try Migrator().apply(to: &connection)
        _ = try KeyFile.generate("\(folder.path)/keys")
        try connection.executeScript(
            """
            INSERT INTO gateways (origin, dialect) VALUES
                ('https://gateway.example', 'gematik-1.2'), ('https://old.example', 'concept-2024');
            INSERT INTO channels (channel_id, default_status, allow_plain) VALUES
                ('news', 'not_set', false), ('alerts', 'enabled', false), ('open', 'enabled', true);
            INSERT INTO trigger_types VALUES ('example.news', 'news'), ('example.alert', 'alerts');
            """
        )
        let admin = try Admin(kafka)
        let outcomes = try admin.createTopics(
            [topics.triggers, topics.triggerDeadLetters, topics.notifications].map {
                TopicSpecification($0, partitions: partitions)
            },
            timeout: .seconds(60)
        )
        if let error = outcomes.compactMap(\.error).first { throw error }
    }

    var kafka: Kafka.Configuration { Kafka.Configuration(["bootstrap.servers": bootstrapServers]) }

    func settings(instance: String = "test") throws -> EncryptSettings {
        var settings = EncryptSettings(
            kafka: kafka,
            database: try Postgres.Configuration(databaseURL),
            keyFile: keyFile,
            instance: instance
        )
        settings.topics = topics
        return settings
    }

    /// Runs SQL on the test's database.
    func execute(_ sql: String) throws { try connection.executeScript(sql) }

    /// Puts the database's months where the test wants them, in place of its clock.
    func setMonth(_ month: Month) throws {
        try execute(
            "CREATE OR REPLACE FUNCTION current_month(zone text) RETURNS integer LANGUAGE sql STABLE RETURN \(month.ordinal)"
        )
    }

    func integer(_ sql: String) throws -> Int64 { try connection.query(sql).int8(0, 0) }

    /// Registers a pusher whose chain begins with `iss` in `month`; without `iss` it has none.
    @discardableResult
    func register(
        user: String,
        app: String = "com.example.app.apns",
        pushkey: String,
        iss: [UInt8]?,
        month: Month = Month("2026-10")!,
        gateway: String = "https://gateway.example",
        path: String = "/push/v1/",
        enabled: [String] = ["news"]
    ) throws -> PusherID {
        var parameters: Parameters = [
            .text(user), .text(app), .text(pushkey), .text(gateway + path), .text(gateway),
        ]
        parameters.append(ArrayParameter(text: enabled.map { String?($0) }))
        let rows = try connection.query(
            """
            INSERT INTO pushers (user_id, app_id, pushkey, app_display_name, device_display_name, lang, url, gateway_origin, enabled_channels)
            VALUES ($1, $2, $3, 'App', 'Device', 'de', $4, $5, $6) RETURNING pusher_id
            """,
            parameters
        )
        let bytes = try rows.uuid(0, 0)
        let pusher = PusherID(bytes: bytes.span)!
        if let iss { try storeChain(of: pusher, iss: iss, month: month) }
        return pusher
    }

    private func storeChain(of pusher: PusherID, iss: [UInt8], month: Month) throws {
        var deriver = try ChainDeriver()
        let generation = try KeyGeneration(
            initialSecret: InitialSecret(bytes: iss.span)!,
            month: month,
            using: &deriver
        )
        var seal = try ChainSeal(ring: try KeyFile.read(keyFile))
        var random = RandomSource()
        var sealed: [UInt8] = []
        try generation.withMaterial { material throws(SealingError) in
            try seal.seal(material, bound: ChainBinding(pusher, month), random: &random, into: &sealed)
        }
        var id: [UInt8] = []
        pusher.uuid.appendBytes(to: &id)
        var parameters: Parameters = [.int4(month.ordinal), .text(seal.activeID)]
        parameters.append(bytea: sealed)
        parameters.append(uuid: id)
        try connection.execute(
            "UPDATE pushers SET key_identifier = 'key-1', chain_month = $1, chain_key_id = $2, chain_sealed = $3 WHERE pusher_id = $4",
            parameters
        )
    }
}

/// A record to publish as it is, well-formed or not.
struct RawRecord {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers = Headers()

    /// A sound event in binary mode.
    static func event(
        _ id: String,
        user: String,
        type: String = "example.news",
        content: String = "{}"
    ) -> RawRecord {
        var record = RawRecord(key: Array(user.utf8), value: Array(content.utf8))
        for (name, value) in [
            ("ce_specversion", "1.0"), ("ce_id", id), ("ce_source", "/test"), ("ce_type", type),
            ("ce_subject", user),
        ] { record.headers.append(Header(name, text: value)) }
        return record
    }

    func with(_ name: String, _ value: String?) -> RawRecord {
        var record = self
        record.headers.append(Header(name, value.map { Array($0.utf8) }))
        return record
    }
}

extension Fixture {
    func publish(_ records: [RawRecord]) throws {
        var producer = try Producer(kafka)
        for record in records {
            try producer.produce(
                topic: topics.triggers,
                key: record.key,
                value: record.value,
                headers: record.headers
            )
        }
        try producer.flush(timeout: .seconds(60))
    }

    /// Runs lanes until nothing is left to read, and stops them.
    func drain(lanes: Int = 1, settings: EncryptSettings? = nil) throws {
        let running = try RunningLanes(settings ?? self.settings(), lanes: lanes, registry: registry)
        try eventually("all triggers are read and committed") { try lag() == 0 }
        try running.stop()
    }

    /// Trigger records that the group has not committed, by the broker's word.
    ///
    /// A new topic or group has no leader for a moment; the question is then asked again.
    func lag() throws -> Int64 {
        var lag: Int64 = 0
        try eventually("the broker tells offsets") {
            do {
                lag = try lagNow()
                return true
            } catch let error as KafkaError {
                guard error.isRetriable || Self.passing.contains(error.code) else { throw error }
                return false
            }
        }
        return lag
    }

    /// NOT_LEADER_FOR_PARTITION, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PART.
    private static let passing: Set<Int32> = [3, 6, 14, 15]

    private func lagNow() throws -> Int64 {
        let admin = try Admin(kafka)
        let places = (0..<partitions).map { TopicPartition(topics.triggers, $0) }
        let committed = try groupReader.committed(places, timeout: .seconds(30))
        var lag: Int64 = 0
        for place in places {
            lag += try admin.watermarks(place, timeout: .seconds(30)).high - max(0, committed[place] ?? 0)
        }
        return lag
    }

    /// Everything on `topic` that a `read_committed` reader sees.
    func records(on topic: String) throws -> [Record] {
        var consumer = try Consumer(
            kafka.setting("group.id", uniqueName("reader")).setting("isolation.level", "read_committed")
                .setting("enable.partition.eof", "false")
        )
        let places = (0..<partitions).map { TopicPartition(topic, $0) }
        try consumer.assign(places.map { TopicPartitionOffset($0, offset: TopicPartitionOffset.beginning) })
        let admin = try Admin(kafka)
        var ends: [Int64] = []
        try eventually("the broker tells where \(topic) ends") {
            do {
                ends = try places.map { try admin.watermarks($0, timeout: .seconds(30)).high }
                return true
            } catch let error as KafkaError {
                guard error.isRetriable || Self.passing.contains(error.code) else { throw error }
                return false
            }
        }
        var records: [Record] = []
        try eventually("\(topic) is read to its end") {
            _ = try consumer.poll(into: &records, limit: 10_000, wait: .milliseconds(50))
            let positions = try consumer.position(places)
            return zip(places, ends).allSatisfy { place, end in end == 0 || (positions[place] ?? 0) >= end }
        }
        return records
    }

    func counter(_ name: String) -> Int {
        let text = String(decoding: registry.render(), as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            line.hasPrefix(name + " ") ? Int(line.split(separator: " ")[1]) : nil
        }.first ?? 0
    }
}

struct LaneStillRuns: Error {}

/// Lanes on threads of their own, as the worker runs them.
final class RunningLanes {
    private let flag: StopFlag
    private let group: LaneGroup<Void, EncryptError>

    init(_ settings: EncryptSettings, lanes: Int, registry: Registry) throws {
        let stop = try StopFlag()
        let metrics = EncryptMetrics(registry, lanes: lanes)
        let log = Log(level: .error, style: .json)
        flag = stop
        let statuses = LaneStatus.lanes(named: "encrypt", count: lanes)
        group = try LaneGroup(statuses, policy: .goOn, stop: stop) { context throws(EncryptError) in
            try EncryptLane.run(settings, context: context, metrics: metrics, log: log)
        }
    }

    /// Stops them in order; throws what a lane failed with.
    func stop() throws {
        flag.raise()
        for outcome in group.join(within: .seconds(60)) {
            switch outcome {
            case .finished: break
            case .failed(let error): throw error
            case .unfinished: throw LaneStillRuns()
            }
        }
    }

    /// Waits for lanes that end by themselves; gives what they failed with.
    func failures() -> [EncryptError] {
        group.join(within: .seconds(60)).compactMap { if case .failed(let error) = $0 { error } else { nil } }
    }
}
