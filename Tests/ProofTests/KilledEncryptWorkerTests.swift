import Push
import Support
import Testing

@Suite(.needsKafka) struct `Encrypt workers that are killed` {
    private static let kills = 10

    /// 1000 users with two devices each and 8000 with one; one device of ten has not subscribed.
    private let devices = (0..<10_000).map { number in
        var device = TestDevice(number, user: "user-\(number < 2000 ? number / 2 : number)")
        device.isSubscribed = number % 10 != 7
        return device
    }

    @Test
    func
        `K10 K11 R4: ten kills among 20,000 events leave every notification there once, and every device opens its own`()
        throws
    {
        let installation = try Installation(partitions: 4)
        try installation.run("gateways", "add", "https://gateway.example")
        try installation.register(devices)
        let users = Array(Set(devices.map(\.user))).sorted()
        let events = (0..<20_000).map { TestEvent(id: "event-\($0)", user: users[$0 * 7 % users.count]) }
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())

        var workers = try (0..<2).map { _ in try encryptWorker(installation) }
        let share = events.count / Self.kills
        for kill in 0..<Self.kills {
            for worker in workers { try worker.awaitReady() }
            // A share of the events for each kill, so that there is work at every one, however fast the machine.
            try installation.publish(Array(events[kill * share..<(kill + 1) * share]))
            try installation.wait(until: "work goes on before kill \(kill + 1)") {
                try installation.encrypted() >= kill * share + share / 10
            }
            try workers[kill % 2].kill()
            let left = try installation.witness.lag(
                of: installation.topics.encryptGroup,
                on: installation.topics.triggers
            )
            #expect(left > 0, "kill \(kill + 1) came while there was work")
            workers[kill % 2] = try encryptWorker(installation)
        }
        try installation.awaitEncrypted()
        for worker in workers { try worker.drain() }

        let items = try installation.sealedItems()
        let opener = try Devices(devices)
        let faults = differences(items, from: expected, opening: opener.open)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        #expect(items.count == expected.count)
        #expect(try installation.deadLetters().isEmpty)
    }

    /// Small batches, so that a kill falls into the middle of one of many transactions.
    private func encryptWorker(_ installation: Installation) throws -> Role {
        try Role(installation, "encrypt", "--batch", "40")
    }
}
