import LocalServices
import Push
import Support
import Testing

@Suite(.needsKafka) struct `Several brokers` {
    @Test
    func
        `topics have the brokers' own replication, and when one broker is killed under load nothing is lost`()
        throws
    {
        let brokers = try KafkaService.own(brokers: 3, settings: KafkaService.fastFailover)
        let installation = try Installation(kafka: brokers, isPrepared: false)
        try installation.run("migrate")
        try installation.run("keys", "generate")
        // The last of the brokers may still be on its way to the controller.
        try installation.wait(until: "all three can be given topics") {
            let created = try BuiltProgram.run(
                ["topics", "create", "--partitions", "6"],
                environment: installation.environment
            )
            return created.code == 0
        }
        try installation.run("topics", "check", "--partitions", "6", "--replication", "3")
        try installation.run("channels", "add", "news", "--trigger-type", "example.news")
        try installation.setMonth(Month("2026-10")!)
        let gateway = try Gateway(installation)
        let devices = (0..<100).map { number in
            var device = TestDevice(number)
            device.origin = gateway.origin
            return device
        }
        try installation.register(devices)
        let events = (0..<2000).map { TestEvent(id: "event-\($0)", user: "user-\($0 % devices.count)") }
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())

        let workers = [
            try Role(installation, "encrypt", "--lanes", "2", "--batch", "20"),
            try Role(installation, "dispatch", "--lanes", "2"),
        ]
        for worker in workers { try worker.awaitReady() }
        let file = try installation.write(events.map(\.line), as: "events")
        let source = try Role(installation, "publish", "--rate", "400", "--json", file)
        var done: Int64 = 0
        try installation.wait(until: "all are at work") {
            done = try installation.encrypted()
            return done >= 200
        }
        #expect(done < events.count, "it is in the middle of the load")
        brokers.stop(broker: 3, abruptly: true)
        #expect(source.end(within: .seconds(120)) == .exited(0), "\(source.words)")
        #expect(source.written.contains(#""sent":2000,"bad":0,"failed":0"#), "\(source.written)")
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        for worker in workers {
            try worker.awaitReady()
            try worker.drain()
        }

        try installation.expect(expected, received: try gateway.items, by: devices)
        #expect(try installation.deadLetters().isEmpty)
    }
}
