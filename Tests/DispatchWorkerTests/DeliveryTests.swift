import DispatchWorker
import Kafka
import Lanes
import LocalServices
import Push
import Simulation
import Support
import Synchronization
import Testing

@Suite struct `Dispatch delivers` {
    @Test(.needsKafka)
    func `each of 1000 notifications once, to its own of three gateways, whatever the order of answers`()
        throws
    {
        let fixture = try Fixture(partitions: 3)
        let regular = try TestGateway()
        let reordering = try TestGateway { arrival in
            var conduct = GatewayConduct()
            conduct.order = arrival.batch % 2 == 0 ? .reversed : .sortedByID
            return conduct
        }
        let old = try TestGateway()
        for gateway in [regular, reordering] { try fixture.allow(gateway.origin) }
        try fixture.allow(old.origin, dialect: .concept2024)
        let drafts = (0..<1000).map { number in
            switch number % 10 {
            case 0: Draft(number, at: old.origin, format: .concept2024)
            case 1: Draft(number, at: regular.origin, format: .gematik12Plain)
            case 2...5: Draft(number, at: regular.origin)
            default: Draft(number, at: reordering.origin)
            }
        }
        try fixture.publish(drafts)
        try fixture.drain(lanes: 2)

        for gateway in [regular, reordering, old] {
            let expected = drafts.filter { $0.origin == gateway.origin }.map { ($0.pushkey, 1) }
            #expect(gateway.pushkeyCounts == Dictionary(uniqueKeysWithValues: expected))
        }
        #expect(
            reordering.counts
                == Dictionary(
                    uniqueKeysWithValues: drafts.filter { $0.origin == reordering.origin }.map {
                        ($0.id.description, 1)
                    }
                )
        )
        #expect(try fixture.reasons() == [])
        #expect(fixture.outcome("delivered") == 1000)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `everything in the end when a gateway was away, with the same ids when it repeats`() throws {
        let fixture = try Fixture()
        let port = try FreePort.pick()
        let origin = "http://127.0.0.1:\(port)"
        try fixture.allow(origin)
        let drafts = (0..<300).map { Draft($0, at: origin) }
        try fixture.publish(drafts, registering: true)
        try fixture.running { _ in
            try eventually("the gateway is given up for a while") {
                fixture.metric("posthorn_dispatch_gateway_stopped") == 1
            }
            // Takes some and breaks the connection before it says so: these come again.
            let gateway = try TestGateway(port: port) { $0.batch <= 3 ? .doing(.close) : .regular }
            try fixture.untilDone()
            #expect(Set(gateway.counts.keys) == Set(drafts.map(\.id.description)))
            #expect(gateway.items.count > drafts.count)
            let bodies = Dictionary(grouping: gateway.items, by: { $0.id ?? "" }).values
            #expect(bodies.allSatisfy { items in Set(items.map(\.notification)).count == 1 })
        }
        #expect(try fixture.reasons() == [])
        #expect(fixture.metric("posthorn_dispatch_gateway_stopped") == 0)
        #expect(fixture.outcome("delivered") == 300)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `all when told to stop: finishes what is under way, commits it, and gives back the rest`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway { _ in .delayed(.milliseconds(300)) }
        try fixture.allow(gateway.origin)
        let drafts = (0..<1000).map { Draft($0, at: gateway.origin) }
        try fixture.publish(drafts)
        var settings = try fixture.settings()
        settings.outbound.inFlight = InFlightLimit.Settings(maximum: 2, initial: 2)
        try fixture.running(settings) { _ in
            try eventually("something is under way") { !gateway.items.isEmpty }
        }
        let first = gateway.items.count
        #expect(first < 1000)
        // What the gateway has is committed: nothing comes twice.
        #expect(try fixture.lag() == Int64(1000 - first))
        #expect(fixture.outcome("returned") > 0)
        #expect(fixture.imbalance == 0)
        gateway.behave { _ in .regular }
        try fixture.drain()
        #expect(gateway.counts.values.allSatisfy { $0 == 1 })
        #expect(gateway.counts.count == 1000)
    }

    @Test(.needsKafka)
    func `K4: everything while lanes come and go, repeating no more than what was under way`() throws {
        let fixture = try Fixture(partitions: 4)
        let gateway = try TestGateway { _ in .delayed(.milliseconds(30)) }
        try fixture.allow(gateway.origin)
        func publish(_ numbers: Range<Int>) throws {
            try fixture.publish(numbers.map { Draft($0, at: gateway.origin) })
        }
        try publish(0..<1000)
        var settings = try fixture.settings()
        settings.batchItems = 10
        settings.outbound.inFlight = InFlightLimit.Settings(maximum: 4, initial: 2)
        try fixture.running(settings) { _ in
            for round in 1...2 {
                let joining = try RunningLanes(settings, lanes: 1, registry: fixture.registry)
                let before = gateway.counts.count
                try publish(round * 1000..<(round + 1) * 1000)
                try eventually("work goes on while a lane joins") { gateway.counts.count >= before + 500 }
                try joining.stop()
            }
            try fixture.untilDone()
        }
        #expect(gateway.counts.count == 3000)
        // Each of four rebalances can abandon what two lanes have under way: four requests of ten.
        #expect(gateway.items.count - 3000 <= 4 * 2 * 4 * 10)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka) func `what came in a transaction, and commits past its marker`() throws {
        let fixture = try Fixture(partitions: 2)
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        try fixture.running { _ in
            for round in 0..<3 {
                let drafts = (0..<20).map { Draft(round * 20 + $0, at: gateway.origin).record }
                try fixture.publish(drafts, transaction: true)
                try fixture.untilDone()
            }
        }
        #expect(gateway.items.count == 60)
        #expect(try fixture.lag() == 0)
    }

    @Test(.needsKafka) func `nothing again, and commits past the marker that another lane left behind`()
        throws
    {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let drafts = (0..<20).map { Draft($0, at: gateway.origin).record }
        try fixture.publish(drafts, transaction: true)
        // As one leaves it that was killed behind the last record.
        let other = try Consumer(fixture.kafka.setting("group.id", fixture.topics.dispatchGroup))
        let end = TopicPartitionOffset(fixture.topics.notifications, 0, offset: 20)
        try other.commit([end], timeout: .seconds(60))
        #expect(try fixture.lag() == 1)
        try fixture.running { _ in try fixture.untilDone() }
        #expect(gateway.items.isEmpty)
    }

    @Test(.needsKafka) func `with the list it has while the database is away`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        try fixture.publish([Draft(0, at: gateway.origin)])
        try fixture.running { lanes in
            try fixture.untilDone()
            try fixture.execute("ALTER TABLE gateways RENAME TO gateways_away")
            try fixture.publish((1..<50).map { Draft($0, at: gateway.origin) })
            try fixture.untilDone()
            #expect(gateway.counts.count == 50)
            #expect(lanes.statuses[0].condition == .ready)
        }
    }
}
