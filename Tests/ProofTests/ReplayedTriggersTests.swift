import Kafka
import Push
import Simulation
import Support
import Testing

/// Trigger events that could not be sealed, from the dead letter to what the device shows.
@Suite(.needsKafka) struct `Replayed trigger events` {
    private let installation: Installation
    private let gateway: SlowGateway
    private let devices: [TestDevice]

    init() throws {
        let installation = try Installation(month: Month("2026-10"))
        let gateway = try SlowGateway(installation, .regular)
        self.installation = installation
        self.gateway = gateway
        devices = (0..<10).map { number in
            var device = TestDevice(number)
            device.origin = gateway.origin
            return device
        }
        try installation.register(devices)
    }

    @Test
    func
        `are sealed anew under today's key, exactly the selected ones and once, while what was sealed long ago is refused`()
        throws
    {
        let encrypt = try Role(installation, "encrypt")
        let dispatch = try Role(installation, "dispatch")
        let selected = try writeTriggers()
        try sealAndRefuse()
        let late = try #require(
            try installation.deadLetters().first { $0.headers.text("ce_id") == "late-0" }
        )
        // Nobody can wait for it in a test: one whose time has passed while it lay there.
        let stale = TestEvent(id: "stale", user: "user-1")
        let record = RawRecord(late).with("ce_id", stale.id).with("ce_subject", stale.user)
            .with("ce_expirytime", "2026-01-01T00:00:00Z").with(value: Array(stale.content.utf8))
        try installation.write([record.with(key: Array(stale.user.utf8))], to: triggers)

        // Two months on, with the cause mended and one device gone.
        try installation.setMonth(Month("2026-12")!)
        try installation.run("channels", "add", "late", "--default", "enabled")
        try installation.run("pushers", "remove", "--user", devices[9].user)
        let expected = try expectation(
            selected,
            for: Array(devices[..<9]),
            pushers: try installation.pusherIDs()
        )
        let words = ["--stage", "encrypt", "--reason", "unknown_channel", "--reason", "invalid_attribute"]
        let counts =
            #""matched":31,"replayed":25,"forced":0,"parked":0,"refused":6,"refusals":{"expired":1,"still_at_fault":5}"#
        let dry = try replay(words + ["--dry-run"], endsWith: 0)
        #expect(dry.contains(counts), "\(dry)")
        #expect(try installation.sealedItems().count == 10, "a dry run writes nothing")
        let done = try replay(words, endsWith: 65)
        #expect(done.contains(counts), "\(done)")
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        try expectSealed(expected)

        // What is left stays, and is not sent again.
        #expect(try replay(words, endsWith: 65).contains(#""matched":6,"replayed":0,"#))
        #expect(
            try replay(["--stage", "encrypt", "--dry-run"], endsWith: 0)
                .contains(#""matched":16,"replayed":0,"forced":0,"parked":0,"refused":16,"#)
        )
        // Those that were sealed before all this are beyond what the devices keep, and one device is gone.
        #expect(
            try replay(["--stage", "dispatch"], endsWith: 65)
                .contains(
                    #""matched":10,"replayed":0,"forced":0,"parked":0,"refused":10,"refusals":{"key_window_passed":9,"pusher_gone":1}"#
                )
        )
        // By an operator's word what has expired is sealed too, with an expiry that lets it arrive.
        #expect(try replay(words + ["--force-expired"], endsWith: 65).contains(#""replayed":1,"forced":1,"#))
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        let forced = try expectation([stale], for: devices, pushers: try installation.pusherIDs())
        try expectSealed(expected.merging(forced) { $1 })
        for worker in [encrypt, dispatch] { try worker.drain() }
    }

    // MARK: - Parts

    private var triggers: String { installation.topics.triggerDeadLetters }

    private func replay(_ words: [String], endsWith code: Int32) throws -> String {
        try installation.run(["dead-letters", "replay", "--json"] + words, endsWith: code)
    }

    /// 20 events of a channel that does not exist yet, and 5 more in the structured mode; 10 of an unknown type, 5 that cannot be read.
    ///
    /// - Returns: the first 25.
    private func writeTriggers() throws -> [TestEvent] {
        func events(_ name: String, _ count: Int) -> [TestEvent] {
            (0..<count).map { TestEvent(id: "\(name)-\($0)", user: devices[$0 % devices.count].user) }
        }
        let (late, structured) = (events("late", 20), events("structured", 5))
        let records =
            late.map { RawRecord($0).with("ce_channel", "late") }
            + structured.map { event in
                RawRecord(
                    key: Array(event.user.utf8),
                    value: Array(event.line.replacing(#""data""#, with: #""channel":"late","data""#).utf8),
                    [Header("content-type", text: "application/cloudevents+json")]
                )
            }
            + events("type", 10).map { RawRecord($0).with("ce_type", "example.other") }
            + events("bad", 5).map { RawRecord($0).with("ce_expirytime", "soon") }
        try installation.write(records, to: installation.topics.triggers)
        try installation.awaitEncrypted()
        #expect(try installation.deadLetters().count == records.count)
        return late + structured
    }

    /// One notification for each device under October's keys, which the gateway refuses.
    private func sealAndRefuse() throws {
        gateway.behave(.doing(.respond(status: 400, body: "{}")))
        try installation.publish(devices.map { TestEvent(id: "october", user: $0.user) })
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        gateway.behave(.regular)
    }

    /// Beside the ten of October, what was sealed and what the gateway took is `expected`, each once, under December's keys.
    private func expectSealed(_ expected: [String: ExpectedNotification]) throws {
        for items in [try installation.sealedItems(), try gateway.items] {
            let new = items.filter { $0.month != "2026-10" }
            #expect(new.allSatisfy { $0.month == "2026-12" })
            let faults = differences(new, from: expected, opening: try Devices(devices).open)
            #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        }
    }
}
