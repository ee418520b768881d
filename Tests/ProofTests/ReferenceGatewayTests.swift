import Kafka
import Push
import Support
import Testing

@Suite(.needsKafka) struct `A gateway in the manner of the reference` {
    private let count = 1500
    private let dead = ["device-7", "device-407", "device-807"]
    /// Refused by their provider while it is throttled, and alive.
    private let throttled = (0..<12).map { "device-\($0 * 100 + 33)" }

    @Test
    func
        `G1 G2 G3: with two confirmations its dead keys go, no healthy one does, and one bad item is all that is lost`()
        throws
    {
        let installation = try Installation(retryDelays: [.seconds(1), .seconds(2)])
        func refusing(_ keys: [String]) -> String {
            let list = keys.map { "\"\($0)\"" }.joined(separator: ",")
            return #"[{"delay_ms":[20,60],"items":[{"pushkeys":[\#(list)],"outcome":"reject"}]}]"#
        }
        let gateways = try ScriptedGateways(
            installation,
            playing: """
                {"origins":[{"request_limit_kb":30720,"phases":[
                  {"name":"throttled","manner":"reference","rules":\(refusing(dead + throttled))},
                  {"name":"running","manner":"reference","rules":\(refusing(dead))}]}]}
                """,
            names: ["gateway"],
            entry: ["--confirm-rejections", "2"]
        )
        let devices = (0..<count).map { number in
            var device = TestDevice(number)
            device.origin = gateways["gateway"]
            device.app = "com.example.app.apns"
            return device
        }
        try installation.register(devices)
        let pushers = try installation.pusherIDs()
        let workers = [
            try Role(installation, "encrypt"), try Role(installation, "dispatch", "--lanes", "2"),
            try Role(installation, "dispatch"),
        ]
        for worker in workers { try worker.awaitReady() }
        // The first round is refused in silence, the second is told so, and what comes after decides.
        let rounds = ["first", "second", "third", "fourth"].map { name in
            devices.map { TestEvent(id: name, user: $0.user) }
        }
        for (index, events) in rounds.enumerated() {
            if index == 1 {
                try gateways.enter("running")
                try writeBroken(3, installation)
            }
            try installation.publish(events)
            try installation.awaitEncrypted()
            try installation.awaitDelivered()
            if index == 2 {
                try installation.wait(until: "the dead ones are gone") {
                    try installation.integer("SELECT count(*) FROM pushers") == Int64(count - dead.count)
                }
            }
        }

        let left = Set(try installation.pusherIDs().keys)
        #expect(left == Set(devices.map(\.pushkey)).subtracting(dead))
        let living = devices.filter { !dead.contains($0.pushkey) }
        let expected = try expectation(rounds.flatMap(\.self), for: living, pushers: pushers)
        let taken = Dictionary(
            grouping: try gateways.receipts().filter { $0.told == "success" },
            by: \.id
        ).mapValues(\.count)
        #expect(expected.keys.allSatisfy { taken[$0] == 1 }, "each of the living ones' is taken once")
        let items = try gateways.items.filter { expected[$0.id] != nil }
        let opening = try Devices(devices).open
        let faults = differences(items, from: expected, repeats: true, opening: opening)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        let reasons = try installation.deadLetters().map { $0.headers.text("x-dlq-reason") }
        #expect(reasons == Array(repeating: "message_refused", count: 3))
        for worker in workers { try worker.drain() }
    }

    /// Items that the gateway does not take, each of which makes it refuse the whole of its batch without a name.
    private func writeBroken(_ count: Int, _ installation: Installation) throws {
        let topic = installation.topics.notifications
        let template = try #require(try installation.witness.records(on: topic).first)
        let old = try #require(template.headers.text("id"))
        let records = (1...count).map { number in
            let id = "00000000-0000-8000-8000-00000000000\(number)"
            return RawRecord(template).with("id", id)
                .with(value: Array(#"{"id":"\#(id)","notification":{"device":"none"}}"#.utf8))
        }
        #expect(old.count == 36)
        try installation.write(records, to: topic)
    }
}
