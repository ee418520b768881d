import Kafka
import Lanes
import LocalServices
import Push
import Support
import Testing

@Suite(.needsKafka) struct `A gateway that is down for long` {
    private let users = 200
    /// Events a second; each becomes two notifications.
    private let rate = 250
    private let count = 3000
    /// For users whose only device is at the gateway that is down.
    private let urgent = 40

    @Test
    func `D5 M6: it costs no dead letter before expiry, holds up nobody, and the books balance afterwards`()
        throws
    {
        let installation = try Installation(retryDelays: [.seconds(1), .seconds(2), .seconds(3)])
        let gateways = try ScriptedGateways(
            installation,
            playing: """
                {"origins":[
                  {"name":"down","phases":[
                    {"name":"reset","connection":"reset"},
                    {"name":"unavailable","rules":[{"status":503}]},
                    {"name":"silent","connection":"hang"},
                    {"name":"up"}]},
                  {"name":"healthy","phases":[{"name":"healthy"}]}]}
                """,
            names: ["down", "healthy"]
        )
        let devices = (0..<2 * users).map { number in
            var device = TestDevice(number, user: "user-\(number / 2)")
            device.origin = gateways[number % 2 == 0 ? "down" : "healthy"]
            return device
        }
        let lonely = (2 * users..<2 * users + urgent).map { number in
            var device = TestDevice(number)
            device.origin = gateways["down"]
            return device
        }
        try installation.register(devices + lonely)
        let events = (0..<count).map { TestEvent(id: "event-\($0)", user: "user-\($0 % users)") }
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        let encrypt = try Role(installation, "encrypt")
        let options = [
            "dispatch", "--request-timeout", "2s", "--breaker-wait", "500ms", "--breaker-pause-max", "2s",
        ]
        let dispatch = try (0..<2).map { _ in try Role(installation, options) }
        for worker in [encrypt] + dispatch { try worker.awaitReady() }

        let expiry = Timestamp(milliseconds: WallClock.milliseconds()).adding(.seconds(9))
        try installation.publish(lonely.map { TestEvent(id: "urgent", user: $0.user, expires: expiry) })
        let lines = try installation.write(events.map(\.line), as: "events")
        let source = try Role(installation, "publish", "--rate", "\(rate)", "--json", lines)
        for (index, phase) in ["unavailable", "silent", "unavailable"].enumerated() {
            try installation.wait(until: "the healthy one goes on before the other is \(phase)") {
                try expectNobodyEarly(dispatch, expiry)
                return try gateways.count("healthy") >= (index + 1) * count / 4
            }
            try gateways.enter(phase)
        }
        #expect(source.end(within: .seconds(120)) == .exited(0), "\(source.words)")
        try installation.awaitEncrypted()
        try installation.awaitDispatched()

        let isHealthys = Set(devices.filter { $0.number % 2 == 1 }.map(\.pushkey))
        let healthy = expected.filter { isHealthys.contains($0.value.pushkey) }
        #expect(try gateways.count("healthy") == healthy.count, "nobody waits but for the one that is down")
        try awaitSchedule(of: expected.count - healthy.count, installation)
        try expectExpired(installation)

        try gateways.enter("up")
        try installation.awaitDelivered()
        let opening = try Devices(devices).open
        let faults = differences(try gateways.items, from: expected, repeats: true, opening: opening)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        #expect(try installation.deadLetters().count == urgent)
        try expectBalance(encrypt, dispatch, delivered: expected.count)
        for worker in [encrypt] + dispatch { try worker.drain() }
    }

    /// Waits until each of the messages for the gateway that is down has been on every step of the schedule.
    private func awaitSchedule(of count: Int, _ installation: Installation) throws {
        for topic in installation.topics.retries {
            try installation.wait(until: "\(topic) has seen them all") {
                let records = try installation.witness.records(on: topic)
                return Set(records.compactMap { $0.headers.text("id") }).count >= count
            }
        }
    }

    /// Nobody has given anything up before its time.
    private func expectNobodyEarly(_ dispatch: [Role], _ expiry: Timestamp) throws {
        for role in dispatch where try role.metric("posthorn_dispatch_dead_letters_total") > 0 {
            #expect(WallClock.milliseconds() >= expiry.milliseconds)
        }
    }

    /// What ended in the dead letters is what was of no use any more.
    private func expectExpired(_ installation: Installation) throws {
        try installation.wait(until: "the urgent ones are over") {
            try installation.deadLetters().count >= urgent
        }
        let letters = try installation.deadLetters()
        #expect(letters.count == urgent)
        for letter in letters {
            #expect(letter.headers.text("x-dlq-reason") == "expired")
            #expect(letter.headers.text("event") == "urgent")
        }
    }

    /// What was sealed has been delivered or has expired; what was received, in one of all ways.
    private func expectBalance(_ encrypt: Role, _ dispatch: [Role], delivered: Int) throws {
        func sum(_ name: String, _ label: String = "") throws -> Int {
            try dispatch.reduce(0) { try $0 + $1.metric("posthorn_dispatch_\(name)", label: label) }
        }
        #expect(try encrypt.metric("posthorn_encrypt_notifications_total") == delivered + urgent)
        #expect(try sum("notifications_total", #""delivered""#) == delivered)
        #expect(try sum("notifications_total", #""expired""#) == urgent)
        for outcome in ["rejected", "dead_lettered", "pusher_gone"] {
            #expect(try sum("notifications_total", "\"\(outcome)\"") == 0, "\(outcome)")
        }
        #expect(try sum("received_total") == sum("notifications_total"))
        #expect(try sum("in_flight") == 0)
        #expect(try sum("notifications_total", #""handed_over""#) == sum("retried_total"))
    }
}
