import Kafka
import LocalServices
import Push
import Simulation
import Support
import Testing

/// Logging in to the brokers, and rights that are missing; with those that docs/operations.md says are needed, and no others.
@Suite(.serialized, .needsKafka) struct `A broker that looks at logins and rights` {
    private let installation: Installation
    private var topics: TopicCatalogue { installation.topics }

    init() throws {
        installation = try Installation(
            kafka: try GuardedBroker.shared(),
            retryDelays: [.seconds(1), .seconds(2)]
        )
    }

    /// The rights of a worker.
    private func allowWorker() throws {
        try GuardedBroker.allow("worker", ["--producer", "--consumer"], topics.prefix, transactions: true)
    }

    private func role(_ words: String..., login: [String: String]) throws -> Role {
        try Role(installation, words, environment: login)
    }

    private func run(_ words: String..., login: [String: String]) throws -> BuiltProgram.Outcome {
        try BuiltProgram.run(words, environment: installation.environment.merging(login) { $1 })
    }

    private func reasons(_ role: Role) throws -> String {
        let answer = try role.answer("/health/ready") ?? ""
        return String(answer.split(separator: #""reasons":["#).dropFirst().first?.prefix { $0 != "]" } ?? "")
    }

    @Test func `a wrong password is told at once by commands and in workers' logs, and never shown`() throws {
        let wrong = try GuardedBroker.login("worker", password: "battery-staple")
        let workers = [try role("encrypt", login: wrong), try role("dispatch", login: wrong)]
        let start = ContinuousClock.now
        let commands = [
            ["topics", "check"], ["topics", "create"], ["dead-letters", "stats"], ["dead-letters", "replay"],
            ["dead-letters", "purge", "--everything", "--yes"],
        ]
        for words in commands {
            let outcome = try BuiltProgram.run(
                words,
                environment: installation.environment.merging(wrong) { $1 }
            )
            #expect(outcome.code == 78, "\(words): \(outcome)")
            #expect(outcome.errors.contains("Authentication failed"), "\(words): \(outcome.errors)")
            #expect(!(outcome.output + outcome.errors).contains("staple"))
        }
        #expect(ContinuousClock.now - start < .seconds(30), "nobody waits for what no waiting mends")
        for worker in workers {
            try installation.wait(until: "\(worker.name) says what is wrong") {
                worker.said("producer_trouble").contains { $0.contains("Authentication failed") }
            }
            #expect(try !worker.isReady)
            #expect(!worker.words.contains("staple"))
            try worker.drain()
        }
    }

    @Test func `without rights workers end or are not ready, say why, and go on when they have them`() throws
    {
        let login = try GuardedBroker.login("worker")
        // Without any right to write there is not even a number for a producer.
        for (name, word) in [
            ("encrypt", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
            ("dispatch", "CLUSTER_AUTHORIZATION_FAILED"),
        ] {
            let denied = try role(name, login: login)
            #expect(denied.end() == .exited(78), "\(denied.words)")
            #expect(denied.words.contains(word), "\(denied.words)")
        }
        try GuardedBroker.rights(
            "--add",
            "--allow-principal",
            "User:worker",
            "--producer",
            "--topic",
            topics.notificationDeadLetters
        )
        let dispatch = try role("dispatch", login: login)
        try installation.wait(until: "dispatch says that it may not") {
            try reasons(dispatch) == #""right_missing""#
        }
        try allowWorker()
        try dispatch.awaitReady()

        let gateway = try SlowGateway(installation, .regular)
        let devices = try register(10, at: gateway)
        let encrypt = try role("encrypt", login: login)
        let events = devices.map { TestEvent(id: "event", user: $0.user) }
        try installation.publish(events)
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        try expect(events, for: devices, at: gateway)
        for worker in [encrypt, dispatch] { try worker.drain() }
    }

    @Test
    func
        `D3: a dispatch worker that may not write dead letters and retries commits nothing, and loses nothing`()
        throws
    {
        try allowWorker()
        let forbidden = [topics.notificationDeadLetters, topics.retries[0]]
        let denial = [
            "--deny-principal", "User:worker", "--operation", "Write", "--topic", forbidden[0], "--topic",
            forbidden[1],
        ]
        try GuardedBroker.rights(["--add"] + denial)
        let gateway = try SlowGateway(installation, .regular)
        let devices = try register(10, at: gateway)
        let login = try GuardedBroker.login("worker")
        let encrypt = try role("encrypt", login: login)
        let dispatch = try role(
            "dispatch",
            "--breaker-pause",
            "100ms",
            "--breaker-pause-max",
            "1s",
            login: login
        )
        try dispatch.awaitReady()
        func publish(_ name: String) throws -> [TestEvent] {
            let events = devices.map { TestEvent(id: name, user: $0.user) }
            try installation.publish(events)
            try installation.awaitEncrypted()
            return events
        }
        // Refused for good, which makes dead letters, then for the moment, which makes retries.
        gateway.behave(.doing(.respond(status: 400, body: "{}")))
        let refused = try publish("refused")
        try installation.wait(until: "dead letters cannot be written") {
            try dispatch.metric("posthorn_dispatch_unwritable") == 1
        }
        gateway.behave(.status(503))
        let put = try publish("put-off")
        try installation.wait(until: "retries cannot be written either") {
            dispatch.said("dead_letter_unwritable").contains { $0.contains(#""\#(forbidden[1])""#) }
        }
        #expect(
            dispatch.said("dead_letter_unwritable").allSatisfy { $0.contains("TOPIC_AUTHORIZATION_FAILED") }
        )
        #expect(try reasons(dispatch) == #""dead_letters_unwritable""#)
        #expect(try installation.witness.progress(of: topics.dispatchGroup, on: topics.notifications) == 0)
        gateway.behave(.regular)
        let others = try publish("others")
        try installation.wait(until: "the others are delivered") { try received(gateway, others, devices) }
        #expect(try installation.witness.progress(of: topics.dispatchGroup, on: topics.notifications) == 0)
        #expect(try installation.deadLetters().isEmpty)

        try GuardedBroker.rights(["--remove", "--force"] + denial)
        try dispatch.awaitReady()
        try installation.awaitDelivered()
        #expect(try dispatch.metric("posthorn_dispatch_unwritable") == 0)
        let letters = try installation.deadLetters()
        #expect(letters.count == devices.count)
        #expect(letters.allSatisfy { $0.headers.text("x-dlq-reason") == "message_refused" })
        try replayByRights()
        try installation.awaitDelivered()
        try expect(refused + put + others, for: devices, at: gateway)
        for worker in [encrypt, dispatch] { try worker.drain() }
    }

    /// An operator without rights is told so, and nothing happens; with them, replays and purges go as everywhere.
    private func replayByRights() throws {
        try GuardedBroker.allow("reader", ["--consumer"], topics.prefix)
        let reader = try GuardedBroker.login("reader")
        #expect(try run("dead-letters", "stats", "--json", login: reader).output.contains(#""letters":10,"#))
        let refused = try run("dead-letters", "replay", login: reader)
        #expect(refused.code == 78, "\(refused)")
        #expect(refused.errors.contains("TRANSACTIONAL_ID_AUTHORIZATION_FAILED"), "\(refused.errors)")
        let stranger = try run("dead-letters", "stats", login: try GuardedBroker.login("operator"))
        #expect(stranger.code == 78 && stranger.errors.contains("may not see"), "\(stranger)")

        try GuardedBroker.allow("operator", ["--producer", "--consumer"], topics.prefix, transactions: true)
        let `operator` = try GuardedBroker.login("operator")
        let replay = try run("dead-letters", "replay", "--json", login: `operator`)
        #expect(replay.code == 0 && replay.output.contains(#""replayed":10,"#), "\(replay)")
        let purge = ["dead-letters", "purge", "--everything", "--all", "--yes", "--json"]
        let environment = installation.environment.merging(`operator`) { $1 }
        let marked = try BuiltProgram.run(purge, environment: environment)
        #expect(marked.code == 78, "\(marked)")
        #expect(
            marked.output.contains(
                #""matched":10,"deleted":0,"marked":10,"refusal":"Kafka delete records: TOPIC_AUTH"#
            )
        )
        #expect(try installation.deadLetters().count == 10, "they are marked, and still there")
    }

    // MARK: - Parts

    private func register(_ count: Int, at gateway: SlowGateway) throws -> [TestDevice] {
        let devices = (0..<count).map { number in
            var device = TestDevice(number)
            device.origin = gateway.origin
            return device
        }
        try installation.register(devices)
        return devices
    }

    private func received(
        _ gateway: SlowGateway,
        _ events: [TestEvent],
        _ devices: [TestDevice]
    ) throws -> Bool {
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        return Set(expected.keys).isSubset(of: try gateway.items.map(\.id))
    }

    private func expect(_ events: [TestEvent], for devices: [TestDevice], at gateway: SlowGateway) throws {
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        try installation.expect(expected, received: try gateway.items, by: devices, isReplayed: true)
    }
}
