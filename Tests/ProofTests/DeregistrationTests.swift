import LocalServices
import Support
import Testing

@Suite(.needsKafka) struct `Pushers that are taken away` {
    @Test
    func
        `M8: a deregistered pusher receives nothing from events published afterwards, the others everything`()
        throws
    {
        let installation = try Installation()
        let gateway = try Gateway(installation)
        let users = ["ada", "ada", "ada", "bob", "cyd", "dan", "eve"]
        let devices = users.enumerated().map { device($0, of: $1, at: gateway) }
        try installation.register(devices)
        let workers = try ["encrypt", "encrypt", "dispatch", "dispatch"].map { try Role(installation, $0) }
        for worker in workers { try worker.awaitReady() }

        let first = try round("first", for: devices, installation)
        #expect(first.count == 7)
        #expect(try differences(gateway.items, from: first, opening: Devices(devices).open).isEmpty)

        // One of Ada's three by the file, all of Bob's, Cyd's as the app itself would, and Dan's phone is Eve's now.
        let key = try installation.write([devices[0].pushkey], as: "pushkey")
        let app = ["--user", "ada", "--app", "com.example.app", "--pushkey-file", key]
        #expect(try installation.run(["pushers", "remove"] + app) == "1 removed\n")
        #expect(
            try installation.run("pushers", "remove", "--user", "bob", "--json") == #"{"removed":1}"# + "\n"
        )
        let heir = device(5, of: "eve", at: gateway)
        let lines = try installation.write([devices[4].removalLine, heir.importLine], as: "changes")
        let summary = try installation.run("pushers", "import", "--json", lines)
        #expect(summary.hasPrefix(#"{"registered":1,"removed":1,"displaced":1,"bad":0,"#))

        let left = [devices[1], devices[2], devices[6], heir]
        let second = try round("second", for: left, installation)
        #expect(Set(second.values.map(\.pushkey)) == ["device-1", "device-2", "device-6", "device-5"])
        let items = try gateway.items.filter { first[$0.id] == nil }
        #expect(try differences(items, from: second, opening: Devices(left).open) == [])

        // Whoever comes back gets what is published from then on, under the chain of the new registration.
        try installation.register([devices[3]])
        let third = try round("third", for: left + [devices[3]], installation)
        let last = try gateway.items.filter { first[$0.id] == nil && second[$0.id] == nil }
        #expect(try differences(last, from: third, opening: Devices(left + [devices[3]]).open) == [])
        #expect(third.count == 5)
        #expect(try installation.deadLetters().isEmpty)
        for worker in workers { try worker.drain() }
    }

    private func device(_ number: Int, of user: String, at gateway: Gateway) -> TestDevice {
        var device = TestDevice(number, user: user)
        device.origin = gateway.origin
        return device
    }

    /// One event for everybody, registered or not.
    ///
    /// - Returns: what must come of it for the devices that are.
    private func round(
        _ name: String,
        for devices: [TestDevice],
        _ installation: Installation
    ) throws -> [String: ExpectedNotification] {
        let events = ["ada", "bob", "cyd", "dan", "eve"].map { TestEvent(id: "\(name)-\($0)", user: $0) }
        try installation.publish(events)
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        return try expectation(events, for: devices, pushers: try installation.pusherIDs())
    }
}
