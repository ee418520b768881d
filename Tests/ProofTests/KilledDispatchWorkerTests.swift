import Kafka
import Lanes
import Push
import Support
import Testing

@Suite(.needsKafka) struct `Dispatch workers that are killed` {
    private let kills = 10
    /// Events that are published before each kill, so that each meets work.
    private let slice = 600
    private let batchSize = 10
    private let requests = 4

    /// What was committed at a kill, and when that was.
    private struct Kill {
        var committed: [TopicPartition: Int64]
        /// In milliseconds.
        var moment: Int64

        func later(by milliseconds: Int64) -> Kill {
            Kill(committed: committed, moment: moment + milliseconds)
        }
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
            try workers[kill % 2].kill()
            let moment = WallClock.milliseconds()
            // Nobody has taken its partitions over yet: what it has not committed by now is sent again.
            seen.append(Kill(committed: try committed(installation), moment: moment))
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
        let repeated = successes.filter { $0.value.count > 1 }
        let repeats = repeated.values.reduce(0) { $0 + $1.count - 1 }
        let traces = try traces(receipts, installation)
        let withRetries = seen.count { kill in
            traces.retries.contains { isOpen($0, kill) && failedAt($0) <= kill.moment }
        }
        #expect(withRetries >= kills - 1, "retries are killed too, but perhaps the first time")
        let inFlight = inFlight(at: seen, traces)
        #expect(repeats > 0, "a kill among requests makes repeats")
        // The gateway reads the last requests of a killed worker when it gets to it.
        let late = Set(repeated.keys).subtracting(inFlight.keys)
        let reading = self.inFlight(at: seen.map { $0.later(by: 1000) }, traces)
        #expect(late.isSubset(of: reading.keys), "only what was in flight is repeated")
        #expect(late.count <= kills * requests * batchSize, "and no more than fits the requests of a worker")
        #expect(repeats - late.count <= inFlight.values.reduce(0, +), "and no more often than it was")
        #expect(inFlight.count < expected.count, "not everything was in flight")
    }

    /// Small requests, few at a time, so that there is work for all kills; what is under way at a rebalance may end.
    private func dispatchWorker(_ installation: Installation) throws -> Role {
        try Role(
            installation,
            [
                "dispatch", "--batch-size", "\(batchSize)", "--gateway-requests", "\(requests)",
                "--commit-interval", "100ms", "--revocation-grace", "30s",
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

    /// What is on the topics after all kills, and when the gateway first saw each notification.
    private struct Traces {
        var live: [Record]
        var retries: [Record]
        var first: [String: Int64] = [:]
    }

    private func traces(_ receipts: [ScriptedGateways.Receipt], _ installation: Installation) throws -> Traces
    {
        let topics = installation.topics
        var traces = Traces(
            live: try installation.witness.records(on: topics.notifications),
            retries: try topics.retries.flatMap { try installation.witness.records(on: $0) }
        )
        for receipt in receipts where traces.first[receipt.id] == nil {
            traces.first[receipt.id] = receipt.receivedAt.milliseconds
        }
        return traces
    }

    /// At how many kills a notification had been sent, or was due for a retry, and was not committed; by id.
    private func inFlight(at kills: [Kill], _ traces: Traces) -> [String: Int] {
        var times: [String: Int] = [:]
        for kill in kills {
            let open = (traces.live + traces.retries).filter { isOpen($0, kill) }
            for record in open {
                guard let id = record.headers.text("id") else { continue }
                let due = record.headers.text("x-retry-due").map { Int64($0) ?? .max }
                if due ?? traces.first[id] ?? .max <= kill.moment { times[id, default: 0] += 1 }
            }
        }
        return times
    }

    private func failedAt(_ record: Record) -> Int64 {
        record.headers.text("x-dlq-last-failed-at").flatMap { Timestamp(rfc3339: $0)?.milliseconds } ?? .max
    }

    private func isOpen(_ record: Record, _ kill: Kill) -> Bool {
        record.offset >= kill.committed[record.place] ?? 0
    }
}
