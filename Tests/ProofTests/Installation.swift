import Kafka
import LocalServices
import Postgres
import Push
import Support

/// A service as its operator sets it up, with nothing but the program's own commands: schema, topics, a key file and one channel.
///
/// The pushers' months come from the test's word in place of the database's clock, but where a test asks for the real one.
final class Installation {
    let folder: TemporaryFolder
    let topics: TopicCatalogue
    let witness: KafkaWitness
    let environment: [String: String]
    private let databaseURL: String

    /// - Parameters:
    ///   - partitions: of the topics that lanes work on.
    ///   - kafka: another broker than the one that tests share.
    ///   - databaseURL: another database than a fresh one on the server that tests share.
    ///   - month: what the database says; nil leaves it its clock.
    ///   - retryDelays: whole seconds, few: what is tried again is waited for.
    ///   - isPrepared: whether schema, topics, keys and channel are made; else they are the test's to make, and the month is the clock's.
    /// - Throws: ``UnexpectedEnd`` when a command fails.
    init(
        partitions: Int = 4,
        kafka: PrivateKafka? = nil,
        databaseURL: String? = nil,
        month: Month? = Month("2026-10"),
        retryDelays: [Duration] = [.seconds(2), .seconds(5)],
        isPrepared: Bool = true
    ) throws {
        let url = try databaseURL ?? PostgresService.freshDatabase()
        let broker = try kafka ?? KafkaService.shared()
        folder = try TemporaryFolder()
        witness = try KafkaWitness(broker.bootstrapServers)
        self.databaseURL = url
        topics = TopicCatalogue(prefix: "\(uniqueName("proof"))-", retryDelays: retryDelays)
        environment = [
            "POSTHORN_KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers,
            "POSTHORN_DATABASE_URL": url,
            "POSTHORN_KEY_FILE": "\(folder.path)/keys",
            "POSTHORN_TOPIC_PREFIX": topics.prefix,
            "POSTHORN_RETRY_DELAYS": retryDelays.map { "\($0.components.seconds)s" }.joined(separator: ","),
        ]
        guard isPrepared else { return }
        try run("migrate")
        try run("keys", "generate")
        try run("topics", "create", "--partitions", "\(partitions)", "--replication", "1")
        try run("channels", "add", "news", "--trigger-type", "example.news")
        if let month { try setMonth(month) }
    }

    /// Runs one command to its end.
    ///
    /// - Parameters:
    ///   - words: what stands behind the program's name.
    ///   - input: standard input.
    ///   - code: the exit code that it must end with.
    /// - Returns: its standard output.
    /// - Throws: ``UnexpectedEnd`` with what it said when it ended otherwise.
    @discardableResult
    func run(_ words: String..., input: String? = nil, endsWith code: Int32 = 0) throws -> String {
        try run(words, input: input, endsWith: code)
    }

    /// The same for words that are put together.
    @discardableResult
    func run(_ words: [String], input: String? = nil, endsWith code: Int32 = 0) throws -> String {
        let outcome = try BuiltProgram.run(words, environment: environment, input: input)
        guard outcome.code == code else {
            throw UnexpectedEnd(
                description: "\(words.joined(separator: " ")): exit code \(outcome.code)\n\(outcome.errors)"
            )
        }
        return outcome.output
    }

    /// Writes a file of lines into the installation's folder.
    func write(_ lines: [String], as name: String) throws -> String {
        let path = "\(folder.path)/\(name)"
        try Files.write(lines.joined(separator: "\n") + "\n", to: path)
        return path
    }

    /// Registers devices.
    func register(_ devices: [TestDevice]) throws {
        try run("pushers", "import", try write(devices.map(\.importLine), as: "registrations"))
    }

    /// Publishes events.
    func publish(_ events: [TestEvent]) throws {
        try run("publish", try write(events.map(\.line), as: uniqueName("events")))
    }

    // MARK: - Database

    /// Puts the database's months where the test wants them, in place of its clock.
    func setMonth(_ month: Month) throws {
        try execute(
            "CREATE OR REPLACE FUNCTION current_month(zone text) RETURNS integer LANGUAGE sql STABLE RETURN \(month.ordinal)"
        )
    }

    func execute(_ sql: String) throws {
        var connection = try Connection(connectingTo: Postgres.Configuration(databaseURL))
        try connection.executeScript(sql)
    }

    func integer(_ sql: String) throws -> Int64 {
        var connection = try Connection(connectingTo: Postgres.Configuration(databaseURL))
        return try connection.query(sql).int8(0, 0)
    }

    /// The ids that the database gave to pushers, by pushkey.
    func pusherIDs() throws -> [String: PusherID] {
        var connection = try Connection(connectingTo: Postgres.Configuration(databaseURL))
        let rows = try connection.query("SELECT pushkey, pusher_id FROM pushers")
        var ids: [String: PusherID] = [:]
        for row in 0..<rows.count {
            let bytes = try rows.uuid(row, 1)
            ids[try rows.text(row, 0)] = PusherID(bytes: bytes.span)
        }
        return ids
    }

    // MARK: - What is there

    /// Everything on the notifications topic that a `read_committed` reader sees.
    func sealedItems() throws -> [SealedItem] {
        try witness.records(on: topics.notifications).map { try SealedItem($0) }
    }

    /// The dead letters of both stages.
    func deadLetters() throws -> [Record] {
        try witness.records(on: topics.triggerDeadLetters)
            + witness.records(on: topics.notificationDeadLetters)
    }

    /// How many triggers the encrypt group has behind it.
    func encrypted() throws -> Int64 {
        try witness.progress(of: topics.encryptGroup, on: topics.triggers)
    }

    // MARK: - Waiting

    /// Waits until `condition` holds; when it never does, the failure tells what the roles said last.
    func wait(
        until what: String,
        within limit: Duration = .seconds(120),
        _ condition: () throws -> Bool
    ) throws {
        do {
            try eventually(what, within: limit, condition)
        } catch let timeout as ConditionTimeout {
            let logs = Files.names(in: folder.path).filter { $0.hasSuffix(".log") }
            let words = logs.map { "\($0) ends with:\n\(Files.tail("\(folder.path)/\($0)", limit: 2000))" }
            throw UnexpectedEnd(description: ([timeout.description] + words).joined(separator: "\n"))
        }
    }

    /// Waits until the encrypt group has read and committed every trigger.
    func awaitEncrypted() throws {
        try wait(until: "all triggers are sealed") {
            try witness.lag(of: topics.encryptGroup, on: topics.triggers) == 0
        }
    }

    /// Waits until the dispatch group has read and committed every notification.
    func awaitDispatched() throws {
        try wait(until: "all notifications are dispatched") {
            try witness.lag(of: topics.dispatchGroup, on: topics.notifications) == 0
        }
    }

    /// Waits until nothing is left of the notifications, retries included: a record leaves the one before it comes to the other.
    func awaitDelivered() throws {
        try wait(until: "all notifications are dispatched and all retries done") {
            try witness.lag(of: topics.dispatchGroup, on: topics.notifications) == 0
                && topics.retries.allSatisfy { try witness.lag(of: topics.retryGroup, on: $0) == 0 }
        }
    }
}

/// A command ended otherwise than a proof needs.
struct UnexpectedEnd: Error, CustomStringConvertible {
    let description: String
}
