import Support
import Testing

@Suite(.needsKafka) struct `A gateway whose answers are broken` {
    private let count = 600

    @Test
    func
        `G4 G7 M11: the drill with broken answers loses nothing, deletes nobody, and repeats under the same ids`()
        throws
    {
        let installation = try Installation(retryDelays: [.seconds(1)])
        let gateways = try ScriptedGateways(
            installation,
            script: Checkout.path("deploy/drills/broken-answers.json"),
            names: ["broken"]
        )
        let devices = (0..<200).map { number in
            var device = TestDevice(number)
            device.origin = gateways["broken"]
            return device
        }
        try installation.register(devices)
        let events = (0..<count).map { TestEvent(id: "event-\($0)", user: "user-\($0 % devices.count)") }
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        try installation.publish(events)
        let encrypt = try Role(installation, "encrypt")
        let dispatch = try Role(
            installation,
            [
                "dispatch", "--batch-size", "10", "--attempts", "1000", "--breaker-pause", "100ms",
                "--breaker-pause-max", "500ms",
            ]
        )
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        let items = try gateways.items
        let faults = differences(items, from: expected, repeats: true, opening: try Devices(devices).open)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        #expect(items.count > expected.count, "what may or may not have been sent is sent again")
        for kind in [
            "unreadable_answer", "unknown_id", "missing_result", "contradictory_result", "foreign_key",
        ] {
            #expect(
                try dispatch.metric("posthorn_dispatch_anomalies_total", label: "\"\(kind)\"") > 0,
                "\(kind)"
            )
        }
        #expect(try installation.integer("SELECT count(*) FROM pushers") == Int64(devices.count))
        #expect(try installation.deadLetters().isEmpty)
        for worker in [encrypt, dispatch] { try worker.drain() }
    }
}
