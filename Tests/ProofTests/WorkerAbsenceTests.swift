import Glibc
import Kafka
import LocalServices
import Push
import Support
import Testing

@Suite(.needsKafka) struct `Dispatch workers that were away` {
    @Test
    func `K8: a worker that froze is missed, found out by its health, and joins again by itself`() throws {
        let installation = try Installation()
        let gateway = try Gateway(installation)
        let devices = (0..<200).map { device($0, at: gateway.origin) }
        try installation.register(devices)
        let encrypt = try Role(installation, "encrypt")
        let frozen = try Role(installation, "dispatch")
        let other = try Role(installation, "dispatch")
        for worker in [encrypt, frozen, other] { try worker.awaitReady() }
        var expected = try round("before", devices, installation)
        let group = "\"\(installation.topics.dispatchGroup)\""
        let joined = frozen.said("assigned").count { $0.contains(group) }
        #expect(try frozen.metric("posthorn_dispatch_received_total") > 0, "it has its share")

        frozen.signal(SIGSTOP)
        // All of it, so that the other one has taken over the partitions of the one that is missed.
        expected.merge(try round("frozen", devices, installation)) { $1 }
        #expect(try frozen.answer("/health/live", within: .milliseconds(500)) == "")
        frozen.signal(SIGCONT)
        let count = try other.metric("posthorn_dispatch_received_total")
        try installation.wait(until: "it has noticed") { !frozen.said("lost").isEmpty }
        try frozen.awaitReady()
        try installation.wait(until: "it has partitions again") {
            frozen.said("assigned").count { $0.contains(group) } > joined
        }
        expected.merge(try round("after", devices, installation)) { $1 }
        let share = try other.metric("posthorn_dispatch_received_total") - count
        #expect(share < devices.count, "it works again")
        #expect(try frozen.answer("/health/live")?.hasPrefix("HTTP/1.1 200") == true)
        for worker in [encrypt, frozen, other] { try worker.drain() }
        let opening = try Devices(devices).open
        let faults = differences(try gateway.items, from: expected, repeats: true, opening: opening)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        #expect(try installation.deadLetters().isEmpty)
    }

    @Test
    func `K15: without the group's offsets everything fresh is delivered and what has expired is counted`()
        throws
    {
        let installation = try Installation()
        let gateway = try Gateway(installation)
        let devices = (0..<100).map { device($0, at: gateway.origin) }
        try installation.register(devices)
        let encrypt = try Role(installation, "encrypt")
        let fresh = (0..<1000).map { TestEvent(id: "event-\($0)", user: "user-\($0 % devices.count)") }
        let expected = try expectation(fresh, for: devices, pushers: try installation.pusherIDs())
        try installation.publish(fresh)
        try installation.awaitEncrypted()
        try encrypt.drain()
        let template = try #require(
            try installation.witness.records(on: installation.topics.notifications).first
        )
        let stale = (0..<100).map { number in
            RawRecord(template).with("expires", "1700000000000").with("event", "stale-\(number)")
        }
        try installation.write(stale, to: installation.topics.notifications)

        // A group that nobody has heard of, then one whose offsets are of a topic that was another.
        for round in 1...2 {
            let dispatch = try Role(installation, "dispatch")
            try installation.wait(until: "round \(round) has come to its end") {
                try dispatch.metric("posthorn_dispatch_notifications_total", label: #""expired""#) == 100
                    && dispatch.metric("posthorn_dispatch_notifications_total", label: #""delivered""#)
                        == 1000
            }
            try installation.awaitDispatched()
            try dispatch.drain()
            try commitBeyond(installation)
        }
        let opening = try Devices(devices).open
        let items = try gateway.items
        let faults = differences(items, from: expected, repeats: true, opening: opening)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        #expect(items.count == 2 * expected.count)
        #expect(try installation.deadLetters().count == 200)
    }

    @Test
    func `K18: after a silence that has ended all connections, the next event goes through at once`() throws {
        let installation = try Installation()
        let gateway = try Gateway(installation)
        let devices = (0..<20).map { device($0, at: gateway.origin) }
        try installation.register(devices)
        try installation.execute(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET idle_session_timeout = 700', current_database()); END $$"
        )
        // Nobody asks anything by himself, and the brokers' connections end as well.
        let idle = ["POSTHORN_KAFKA_CONNECTIONS_MAX_IDLE_MS": "1000"]
        let encrypt = try Role(installation, ["encrypt"], environment: idle)
        let dispatch = try Role(installation, ["dispatch", "--gateway-refresh", "600s"], environment: idle)
        for worker in [encrypt, dispatch] { try worker.awaitReady() }
        var expected: [String: ExpectedNotification] = [:]
        for turn in 1...3 {
            expected.merge(try round("turn-\(turn)", devices, installation)) { $1 }
            try installation.wait(until: "the database has dropped them all") {
                try installation.integer(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
                    """
                ) == 0
            }
        }
        for worker in [encrypt, dispatch] { try worker.drain() }
        let faults = differences(try gateway.items, from: expected, opening: try Devices(devices).open)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        #expect(try installation.deadLetters().isEmpty)
    }

    private func device(_ number: Int, at origin: String) -> TestDevice {
        var device = TestDevice(number)
        device.origin = origin
        return device
    }

    /// One event for every device, from its publication to its commit.
    private func round(
        _ name: String,
        _ devices: [TestDevice],
        _ installation: Installation
    ) throws -> [String: ExpectedNotification] {
        let events = devices.map { TestEvent(id: name, user: $0.user) }
        try installation.publish(events)
        try installation.awaitEncrypted()
        try installation.awaitDispatched()
        return try expectation(events, for: devices, pushers: try installation.pusherIDs())
    }

    /// Leaves offsets behind that no partition has.
    private func commitBeyond(_ installation: Installation) throws {
        let topics = installation.topics
        let configuration = Kafka.Configuration([
            "bootstrap.servers": installation.environment["POSTHORN_KAFKA_BOOTSTRAP_SERVERS"] ?? "",
            "group.id": topics.dispatchGroup,
        ])
        let reader = try Consumer(configuration)
        let places = try installation.witness.places(of: topics.notifications)
        try reader.commit(places.map { TopicPartitionOffset($0, offset: 1_000_000) }, timeout: .seconds(30))
    }
}
