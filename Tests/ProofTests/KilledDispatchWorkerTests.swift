import Kafka
import Lanes
import Push
import Support
import Testing

@Suite(.needsKafka) struct `Dispatch workers that are killed` {
    private let kills = 10
    /// Events that are published before each kill, so that each meets work.
    private let slice = 600

    /// What was committed just before a kill, and when all of it was over.
    private struct Kill {
        var committed: [TopicPartition: Int64]
        var moment: Int64
    }

    @Test
    func
        `K4: ten kills with requests and retries under way lose nothing, and repeat only what was in flight, unchanged`()
        throws
    {
        let installation = try Installation(retryDelays: [.seconds(1), .seconds(2)])
        let gateways = try ScriptedGateways(
            installation,
            playing: """
                {"origins":[{"phases":[
                  {"name":"failing","rules":[{"delay_ms":40,"items":[{"share":0.2,"outcome":"fail"}]}]},
                  {"name":"mended"}]}]}
                """,
            names: ["gateway"]
        )
        let devices = (0..<3000).map { number in
            var device = TestDevice(number)
            device.origin = gateways["gateway"]
            return device
        }
        try installation.register(devices)
        let events = (0..<kills * slice).map {
            TestEvent(id: "event-\($0)", user: "user-\($0 % devices.count)")
        }
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        let encrypt = try Role(installation, "encrypt")
        var workers = try (0..<2).map { _ in try dispatchWorker(installation) }
        var seen: [Kill] = []
        for kill in 0..<kills {
            for worker in workers { try worker.awaitReady() }
            let count = try gateways.count("gateway")
            try installation.publish(Array(events[kill * slice..<(kill + 1) * slice]))
            // Every answer takes its time, so that requests are under way whenever the gateway has just got something.
            try installation.wait(until: "work goes on before kill \(kill + 1)") {
                try gateways.count("gateway") >= count + 100
            }
            let committed = try committed(installation)
            try workers[kill % 2].kill()
            seen.append(Kill(committed: committed, moment: WallClock.milliseconds()))
            workers[kill % 2] = try dispatchWorker(installation)
        }
        try gateways.enter("mended")
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        for worker in workers + [encrypt] { try worker.drain() }

        let opening = try Devices(devices).open
        let faults = differences(try gateways.items, from: expected, repeats: true, opening: opening)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        #expect(try installation.deadLetters().isEmpty)

        let receipts = try gateways.receipts()
        let successes = Dictionary(grouping: receipts.filter { $0.told == "success" }, by: \.id)
        #expect(successes.count == expected.count, "each has been taken")
        let repeats = successes.values.reduce(0) { $0 + $1.count - 1 }
        let inFlight = try inFlight(seen, receipts, installation)
        #expect(repeats > 0, "a kill among requests makes repeats")
        #expect(repeats <= inFlight, "\(repeats) repeats of \(inFlight) in flight")
        // How much that is depends on the machine; as much as everything would bound nothing.
        #expect(inFlight < expected.count, "\(inFlight) in flight at \(kills) kills")
    }

    /// Small requests, few at a time, so that there is work for all kills; what is under way at a rebalance may end.
    private func dispatchWorker(_ installation: Installation) throws -> Role {
        try Role(
            installation,
            [
                "dispatch", "--batch-size", "10", "--gateway-requests", "4", "--commit-interval", "100ms",
                "--revocation-grace", "30s",
            ]
        )
    }

    private func committed(_ installation: Installation) throws -> [TopicPartition: Int64] {
        let topics = installation.topics
        var offsets = try installation.witness.committed(by: topics.dispatchGroup, on: topics.notifications)
        for topic in topics.retries {
            offsets.merge(try installation.witness.committed(by: topics.retryGroup, on: topic)) { $1 }
        }
        return offsets
    }

    /// Over all kills, how many records had been sent, or were due for a retry, and were not committed.
    private func inFlight(
        _ kills: [Kill],
        _ receipts: [ScriptedGateways.Receipt],
        _ installation: Installation
    ) throws -> Int {
        var first: [String: Int64] = [:]
        for receipt in receipts where first[receipt.id] == nil {
            first[receipt.id] = receipt.receivedAt.milliseconds
        }
        let live = try installation.witness.records(on: installation.topics.notifications)
        let retries = try installation.topics.retries.flatMap { try installation.witness.records(on: $0) }
        #expect(retries.count > slice / 4, "retries are killed too")
        return kills.reduce(0) { sum, kill in
            let sent = live.count { record in
                isOpen(record, kill) && first[record.headers.text("id") ?? ""] ?? .max <= kill.moment
            }
            let due = retries.count { record in
                isOpen(record, kill)
                    && Int64(record.headers.text("x-retry-due") ?? "") ?? .max <= kill.moment
            }
            return sum + sent + due
        }
    }

    private func isOpen(_ record: Record, _ kill: Kill) -> Bool {
        record.offset >= kill.committed[record.place] ?? 0
    }
}
