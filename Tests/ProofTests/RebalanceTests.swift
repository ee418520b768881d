import Push
import Support
import Testing

@Suite(.needsKafka) struct `Dispatch workers that come and go` {
    /// Members that come and go again: two rebalances each.
    private let members = 25
    /// Events for each of them.
    private let slice = 150
    private let batch = 10
    private let requests = 4

    @Test
    func
        `K4: offsets never go back or past the end in 50 rebalances, and nothing is lost`()
        throws
    {
        let installation = try Installation(retryDelays: [.seconds(1), .seconds(2)])
        let gateways = try ScriptedGateways(
            installation,
            playing: """
                {"origins":[{"phases":[{"name":"failing","rules":[
                  {"delay_ms":[10,40],"items":[{"share":0.2,"outcome":"fail"}]}]}]}]}
                """,
            names: ["gateway"]
        )
        let devices = (0..<500).map { number in
            var device = TestDevice(number)
            device.origin = gateways["gateway"]
            return device
        }
        try installation.register(devices)
        let encrypt = try Role(installation, "encrypt")
        let constant = try dispatchWorker(installation)
        for worker in [encrypt, constant] { try worker.awaitReady() }
        let watch = try OffsetWatch(installation)
        var events: [TestEvent] = []
        for _ in 0..<members {
            let member = try dispatchWorker(installation)
            let more = (events.count..<events.count + slice).map {
                TestEvent(id: "event-\($0)", user: "user-\($0 % devices.count)")
            }
            try installation.publish(more)
            events += more
            try member.awaitReady()
            try installation.wait(until: "it has been given partitions") {
                member.said("assigned").contains { $0.contains("\"\(installation.topics.dispatchGroup)\"") }
            }
            try member.drain()
        }
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        let sightings = try watch.end()
        for worker in [encrypt, constant] { try worker.drain() }
        #expect(sightings.faults.isEmpty, "\(sightings.faults.count): \(sightings.faults.prefix(10))")
        #expect(sightings.looks > members && sightings.steps > 2 * members, "\(sightings)")

        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        let opening = try Devices(devices).open
        let faults = differences(try gateways.items, from: expected, repeats: true, opening: opening)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        // What is under way may end before its partition goes; what does not is sent again, and no more than that.
        let receipts = try gateways.receipts()
        let taken = receipts.filter { $0.told == "success" }.count
        #expect(taken >= expected.count)
        #expect(taken - expected.count <= 2 * members * requests * batch)
        #expect(try installation.deadLetters().isEmpty)
    }

    /// Small requests, which may all end before partitions go; and no member is missed by mistake.
    private func dispatchWorker(_ installation: Installation) throws -> Role {
        try Role(
            installation,
            [
                "dispatch", "--batch-size", "\(batch)", "--gateway-requests", "\(requests)",
                "--commit-interval", "50ms",
                "--revocation-grace", "30s",
            ],
            environment: ["POSTHORN_KAFKA_SESSION_TIMEOUT_MS": "30000"]
        )
    }
}
