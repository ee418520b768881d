import LocalServices
import Support
import Testing

@Suite(.needsKafka) struct `A gateway that tells pushkeys dead` {
    private let count = 1000

    @Test
    func
        `A18: a dead key goes; a wrong credential that makes all look dead deletes nobody and raises the alarm`()
        throws
    {
        let installation = try Installation(retryDelays: [.seconds(1)])
        let gateways = try ScriptedGateways(
            installation,
            script: Checkout.path("deploy/drills/all-dead.json"),
            names: ["wrong-topic"]
        )
        // The drill's first minute is over when the test says so.
        try gateways.enter("healthy")
        let devices = (0..<count).map { number in
            var device = TestDevice(number)
            device.origin = gateways["wrong-topic"]
            return device
        }
        try installation.register(devices)
        let encrypt = try Role(installation, "encrypt")
        var dispatch = try (0..<2).map { _ in try Role(installation, "dispatch") }
        for worker in [encrypt] + dispatch { try worker.awaitReady() }

        try publish("first", to: devices, installation)
        let dead = Set(try gateways.receipts().filter { $0.told == "failed" }.map(\.id))
        #expect((1...count / 50).contains(dead.count), "\(dead.count) of \(count) are dead in a usual time")
        try installation.wait(until: "they are gone") {
            try pushers(installation) == count - dead.count
        }
        #expect(try held(dispatch, "storm") == 0)

        // All of those who got the first message, some from a worker that has just begun and has no history of its own.
        try gateways.enter("all-dead")
        try dispatch[1].drain()
        dispatch[1] = try Role(installation, "dispatch")
        try dispatch[1].awaitReady()
        try publish("second", to: devices, installation)
        #expect(try pushers(installation) == count - dead.count, "not one")
        try installation.wait(until: "the alarm tells of all") {
            try dispatch.allSatisfy { try held([$0], "storm") == count - dead.count }
        }
        #expect(dispatch.contains { !$0.said("rejection_storm_began").isEmpty })
        let list = try installation.run("rejections", "list")
        #expect(list.contains("\(count - dead.count)"), "\(list.prefix(500))")

        // Mended, and what was held is dropped: everybody is still there and gets the next message.
        try gateways.enter("healthy")
        let origin = gateways["wrong-topic"]
        try installation.run("rejections", "discard", "--gateway", origin, "--operator", "proof")
        let living = try installation.pusherIDs()
        let third = try publish("third", to: devices, installation)
        let expected = try expectation(
            third,
            for: devices.filter { living[$0.pushkey] != nil },
            pushers: living
        )
        let taken = Set(try gateways.receipts().filter { $0.told == "success" }.map(\.id))
        #expect(expected.count == count - dead.count && taken.isSuperset(of: expected.keys))
        #expect(try pushers(installation) == count - dead.count)
        #expect(try installation.deadLetters().isEmpty)
        for worker in [encrypt] + dispatch { try worker.drain() }
    }

    /// One event for each device, up to the commit of all.
    @discardableResult
    private func publish(
        _ name: String,
        to devices: [TestDevice],
        _ installation: Installation
    ) throws -> [TestEvent] {
        let events = devices.map { TestEvent(id: name, user: $0.user) }
        try installation.publish(events)
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        return events
    }

    private func pushers(_ installation: Installation) throws -> Int {
        Int(try installation.integer("SELECT count(*) FROM pushers"))
    }

    /// What the alarm says, over these workers.
    private func held(_ workers: [Role], _ cause: String) throws -> Int {
        try workers.reduce(0) {
            try $0 + $1.metric("posthorn_dispatch_rejections_held", label: "cause=\"\(cause)\"")
        }
    }
}
