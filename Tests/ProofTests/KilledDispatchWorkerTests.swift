import Simulation
import Support
import Testing

@Suite(.needsKafka) struct `Dispatch workers that are killed` {
    private static let kills = 6

    @Test
    func
        `K4: six kills with requests under way lose nothing, and what is sent twice is the same to the last byte`()
        throws
    {
        let installation = try Installation()
        let gateway = try SlowGateway(installation, .delayed(.milliseconds(40)))
        let devices = (0..<3000).map { number in
            var device = TestDevice(number)
            device.origin = gateway.origin
            return device
        }
        try installation.register(devices)
        let events = (0..<6000).map { TestEvent(id: "event-\($0)", user: "user-\($0 % devices.count)") }
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        try installation.publish(events)
        let encrypt = try Role(installation, "encrypt")
        try installation.awaitEncrypted()
        try encrypt.drain()

        var workers = try (0..<2).map { _ in try dispatchWorker(installation) }
        for kill in 0..<Self.kills {
            for worker in workers { try worker.awaitReady() }
            let count = gateway.count
            // Every answer takes its time, so that requests are under way whenever the gateway has just got something.
            try installation.wait(until: "work goes on before kill \(kill + 1)") {
                gateway.count >= count + 200
            }
            try workers[kill % 2].kill()
            workers[kill % 2] = try dispatchWorker(installation)
        }
        gateway.behave(.regular)
        try installation.awaitDispatched()
        for worker in workers { try worker.drain() }

        let items = try gateway.items
        let faults = differences(items, from: expected, repeats: true, opening: try Devices(devices).open)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        let counts = Dictionary(grouping: items, by: \.id).mapValues(\.count)
        #expect(counts.values.contains { $0 > 1 }, "a kill among requests makes repeats")
        #expect(counts.values.allSatisfy { $0 <= 1 + Self.kills })
        #expect(items.count < 2 * expected.count, "not everything is sent again")
        #expect(try installation.deadLetters().isEmpty)
    }

    /// Small requests, few at a time, so that there is work for all kills.
    private func dispatchWorker(_ installation: Installation) throws -> Role {
        try Role(installation, "dispatch", "--batch-size", "10", "--gateway-requests", "4")
    }
}
