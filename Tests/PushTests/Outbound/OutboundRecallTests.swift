import Testing

@testable import Push

/// Requests that are called back, because a partition cannot be read beyond their records.
struct OutboundRecallTests {
    private static func settings() -> OutboundSettings {
        var settings = OutboundSettings()
        settings.transient = .retryTopic(RetrySchedule())
        settings.offsetWindow = 100
        settings.recallAge = .seconds(1)
        settings.inFlight = InFlightLimit.Settings(minimum: 1, maximum: 1, initial: 1)
        return settings
    }

    /// One request of `hanging` is under way for 10 records, 5 more are queued behind it, and `others` fill the window.
    private static func fill(_ rig: OutboundRig, _ partition: Partition, others: String = "healthy") {
        let hanging = rig.destination("hanging", limits: BatchLimits(maximumItems: 10, maximumBytes: 100_000))
        rig.enqueue(15, partition, hanging)
        rig.advance(.milliseconds(5))
        let filling = rig.destination(others)
        rig.enqueue(85, partition, filling)
        rig.advance(.milliseconds(5))
    }

    @Test
    func `a request that keeps a partition shut is called back in time, and its queue is shed`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        Self.fill(rig, partition)
        let batches = rig.takeSent()
        #expect(batches.map(\.tickets.count) == [10, 85])
        rig.answer(batches[1])
        #expect(rig.paused == [partition])
        rig.run(.milliseconds(900))
        #expect(rig.recalls.isEmpty, "it has its time")
        rig.run(.milliseconds(300))
        #expect(rig.recalls == [batches[0].id], "once, however often is looked")
        let shed = rig.takeHandOvers()
        #expect(shed.map(\.handOver.attempts) == Array(repeating: 0, count: 5))
        #expect(rig.paused == [partition])
        rig.complete(batches[0], .transient(.recalled))
        let recalled = rig.takeHandOvers()
        #expect(recalled.map(\.handOver.attempts) == Array(repeating: 1, count: 10))
        for (ticket, _) in shed + recalled { rig.confirm(ticket) }
        #expect(rig.paused.isEmpty)
        #expect(rig.committable(partition) == 100)
    }

    @Test
    func `one that is alone takes its time`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        let slow = rig.destination("slow", limits: BatchLimits(maximumItems: 10, maximumBytes: 100_000))
        rig.enqueue(100, partition, slow)
        #expect(rig.paused == [partition])
        rig.run(.seconds(10))
        #expect(rig.recalls.isEmpty)
    }

    @Test
    func `nothing is called back while every partition may be read`() {
        var settings = Self.settings()
        settings.offsetWindow = 101
        let rig = OutboundRig(settings)
        Self.fill(rig, rig.assign())
        rig.run(.seconds(10))
        #expect(rig.recalls.isEmpty)
    }

    @Test
    func `without retry topics nothing is called back`() {
        var settings = Self.settings()
        settings.transient = .inLane(Backoff())
        let rig = OutboundRig(settings)
        Self.fill(rig, rig.assign())
        rig.run(.seconds(10))
        #expect(rig.recalls.isEmpty)
    }

    @Test
    func `a request that is answered before it can be called back is not`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        Self.fill(rig, partition)
        let batches = rig.takeSent()
        rig.answer(batches[1])
        rig.now.monotonic += .seconds(2)
        rig.engine.tick(now: rig.now)
        rig.answer(batches[0])
        #expect(rig.recalls.isEmpty)
        #expect(rig.takeHandOvers().count == 5)
    }
}
