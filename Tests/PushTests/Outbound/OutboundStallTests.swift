import Testing

@testable import Push

/// Slow destinations beside others, and records that come back from the retry topics.
struct OutboundStallTests {
    private static func settings() -> OutboundSettings {
        var settings = OutboundSettings()
        settings.transient = .retryTopic(RetrySchedule())
        settings.maximumRecordsPerDestination = 150
        settings.inFlight = InFlightLimit.Settings(minimum: 1, maximum: 1, initial: 1)
        return settings
    }

    @Test
    func `a destination at its bound stops reading for no longer than patience, then sheds what is new`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        let hanging = rig.destination("a")
        let healthy = rig.destination("b")
        rig.enqueue(100, partition, healthy)
        rig.answer(rig.takeSent()[0])
        rig.enqueue(200, partition, hanging)
        #expect(rig.takeHandOvers().isEmpty)
        #expect(rig.paused == [partition])
        rig.run(.milliseconds(400))
        #expect(rig.paused == [partition] && rig.takeHandOvers().isEmpty)
        rig.run(.milliseconds(300))
        #expect(rig.paused.isEmpty)
        #expect(rig.takeHandOvers().map(\.handOver.step) == Array(repeating: 0, count: 50))
        #expect(rig.load(of: hanging) == 150)
        rig.enqueue(100, partition, hanging)
        #expect(rig.takeHandOvers().count == 100)
        _ = rig.takeSent()
        rig.enqueue(100, partition, healthy)
        #expect(rig.takeSent().map(\.destination) == [healthy])
        #expect(rig.paused.isEmpty)
    }

    @Test
    func `one that keeps up again is shed no more`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        let slow = rig.destination("a")
        rig.enqueue(1, partition, rig.destination("b"))
        rig.enqueue(200, partition, slow)
        rig.run(.milliseconds(700))
        #expect(rig.takeHandOvers().count == 50)
        while rig.load(of: slow) > 0 {
            for batch in rig.takeSent() { rig.answer(batch) }
            rig.advance(.milliseconds(150))
        }
        rig.enqueue(149, partition, slow)
        #expect(rig.takeHandOvers().isEmpty && rig.paused.isEmpty)
    }

    @Test
    func `one that is alone is waited for and not shed`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        let slow = rig.destination("a")
        rig.enqueue(150, partition, slow)
        rig.run(.seconds(60))
        #expect(rig.takeHandOvers().isEmpty)
        #expect(rig.paused == [partition])
        // One that was there long ago is no company.
        rig.enqueue(1, partition, rig.destination("b"))
        rig.run(.milliseconds(200))
        #expect(rig.paused.isEmpty)
    }

    @Test
    func `several slow ones together leave room for the others`() {
        var settings = Self.settings()
        settings.maximumRecords = 400
        let rig = OutboundRig(settings)
        let partition = rig.assign()
        let limits = BatchLimits(maximumItems: 10, linger: .zero)
        let slow = ["a", "b", "c", "d"].map { rig.destination($0, limits: limits) }
        for gateway in slow { rig.enqueue(100, partition, gateway) }
        #expect(rig.room == 0)
        rig.run(.milliseconds(1500))
        for (ticket, _) in rig.takeHandOvers() { rig.confirm(ticket) }
        rig.advance(.milliseconds(100))
        #expect(rig.room >= 400 / 8)
        #expect(slow.allSatisfy { rig.load(of: $0) >= 75 })
        rig.enqueue(10, partition, slow[0])
        #expect(rig.takeHandOvers().count == 10)
    }

    @Test
    func `what comes from a retry topic is not shed for want of room, but not asked for`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        let slow = rig.destination("a")
        rig.enqueue(1, partition, rig.destination("b"))
        rig.enqueue(200, partition, slow)
        rig.run(.milliseconds(700))
        _ = rig.takeHandOvers()
        #expect(rig.hasRoom(for: slow))
        for _ in 0..<50 { rig.enqueue(partition, slow, handOvers: 1) }
        #expect(rig.takeHandOvers().isEmpty)
        #expect(!rig.hasRoom(for: slow))
    }

    @Test
    func `time that was asked for beyond the slowest topic is kept over the hand-overs, up to the expiry`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(partition, gateway)
        rig.advance(.milliseconds(5))
        let asked = rig.now.wall.adding(.seconds(5 * 3600))
        rig.complete(rig.takeSent()[0], .transient(.throttled, after: asked), status: 429)
        let first = rig.takeHandOvers()[0].handOver
        #expect(first.step == 4)
        let notBefore = first.notBefore ?? Timestamp(milliseconds: 0)
        #expect(notBefore >= asked)
        // In another lane, which knows nothing of it.
        let other = OutboundRig(Self.settings())
        let place = other.assign()
        other.now.wall = first.due
        other.enqueue(place, other.destination("a"), handOvers: first.handOvers, notBefore: notBefore)
        let second = other.takeHandOvers()[0].handOver
        #expect(second.attempts == 0 && second.handOvers == first.handOvers + 1)
        #expect(second.notBefore == notBefore)
        #expect(other.takeSent().isEmpty)
        other.now.wall = notBefore
        other.enqueue(place, other.destination("a"), handOvers: 3, notBefore: notBefore)
        other.advance(.milliseconds(5))
        #expect(other.takeSent().count == 1)
    }

    @Test
    func `a partition about to be revoked ends when what was under way has`() {
        let rig = OutboundRig(Self.settings())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(120, partition, gateway)
        let batch = rig.takeSent()[0]
        rig.relinquish(partition)
        #expect(rig.recordCount(of: partition) == 100)
        // It would be queued again otherwise.
        rig.complete(batch, .transient(.throttled, after: rig.now.wall.adding(.seconds(1))), status: 429)
        #expect(rig.recordCount(of: partition) == 0)
        #expect(rig.committable(partition) == nil)
    }
}
