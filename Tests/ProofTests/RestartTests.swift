import LocalServices
import Support
import Testing

@Suite(.needsKafka) struct `Servers that go away under load` {
    /// 300 users, 100 of them with two devices.
    private let users = 300
    private let events = 6000

    private enum Outage: CaseIterable {
        case databaseShutDown
        case brokerKilled
        case databaseCrashed
        case brokerShutDown

        func run(_ broker: PrivateKafka, _ database: PrivatePostgres) throws {
            switch self {
            case .databaseShutDown, .databaseCrashed:
                database.stop(abruptly: self == .databaseCrashed)
                try database.start()
            case .brokerKilled, .brokerShutDown:
                broker.stop(abruptly: self == .brokerKilled)
                try broker.start()
            }
        }
    }

    @Test
    func
        `broker and database are killed and restarted: nothing is lost or sealed twice, and nobody has to help`()
        throws
    {
        let broker = try KafkaService.own()
        let database = try PrivatePostgres()
        try database.createDatabase("proof")
        let installation = try Installation(kafka: broker, databaseURL: database.url(database: "proof"))
        let gateway = try Gateway(installation)
        let devices = (0..<400).map { number in
            var device = TestDevice(number, user: "user-\(number % users)")
            device.origin = gateway.origin
            return device
        }
        try installation.register(devices)
        let events = (0..<events).map { TestEvent(id: "event-\($0)", user: "user-\($0 * 7 % users)") }
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())

        let encrypt = try role(installation, "encrypt", "--lanes", "2", "--batch", "20")
        let dispatch = try role(installation, "dispatch", "--lanes", "2")
        for worker in [encrypt, dispatch] { try worker.awaitReady() }
        let share = events.count / Outage.allCases.count
        for (index, outage) in Outage.allCases.enumerated() {
            let lines = events[index * share..<(index + 1) * share].map(\.line)
            // What the last outage has held up is done, so that the load is there at the next one.
            try installation.awaitEncrypted()
            let file = try installation.write(lines, as: "events-\(index)")
            let source = try role(installation, "publish", "--rate", "400", "--json", file)
            try installation.wait(until: "work goes on before \(outage)") {
                try installation.encrypted() >= index * share + share / 10
            }
            #expect(source.isRunning, "events come in before \(outage)")
            try outage.run(broker, database)
            #expect(source.end(within: .seconds(120)) == .exited(0), "\(source.words)")
            #expect(source.written.contains(#""sent":\#(share),"bad":0,"failed":0"#), "\(source.written)")
        }
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        for worker in [encrypt, dispatch] {
            try worker.awaitReady()
            try worker.drain()
        }

        try installation.expect(expected, received: try gateway.items, by: devices)
        #expect(try installation.deadLetters().isEmpty)
    }

    /// The broker is looked for again after a second at the latest, not ten: the test waits for it.
    private func role(_ installation: Installation, _ words: String...) throws -> Role {
        try Role(installation, words, environment: ["POSTHORN_KAFKA_RECONNECT_BACKOFF_MAX_MS": "1000"])
    }
}
