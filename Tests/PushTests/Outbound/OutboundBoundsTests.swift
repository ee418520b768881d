import Testing

@testable import Push

/// Bounds, fairness, revocation and drain.
struct OutboundBoundsTests {
    @Test
    func `a hanging destination does not touch another's batches on the same partition`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        let hanging = rig.destination("a")
        let healthy = rig.destination("b")
        for _ in 0..<1500 {
            rig.enqueue(partition, hanging)
            rig.enqueue(partition, healthy)
            for batch in rig.takeSent() where batch.destination == healthy { rig.answer(batch) }
        }
        rig.advance(.milliseconds(5))
        for batch in rig.takeSent() where batch.destination == healthy { rig.answer(batch) }
        #expect(rig.counters.accepted == 1500)
        #expect(rig.inFlight(to: hanging) == 4)
        #expect(rig.committable(partition) == nil)
    }

    @Test
    func `a partition about to be revoked keeps what is under way and gives back the rest`() {
        var settings = OutboundSettings()
        settings.maximumBatches = 1
        let rig = OutboundRig(settings)
        let partition = rig.assign()
        let staying = rig.assign()
        rig.enqueue(150, partition, rig.destination("a"))
        rig.enqueue(staying, rig.destination("b"))
        rig.advance(.milliseconds(5))
        rig.relinquish(partition)
        #expect(rig.recordCount == 101)
        #expect(rig.counters.givenBack == 50)
        rig.answer(rig.takeSent()[0])
        #expect(rig.committable(partition) == 100)
        #expect(rig.recordCount == 1)
    }

    @Test
    func `batches under way are bounded over all destinations, which then take turns`() {
        var settings = OutboundSettings()
        settings.maximumBatches = 3
        let rig = OutboundRig(settings)
        let partition = rig.assign()
        let gateways = ["a", "b", "c"].map { rig.destination($0) }
        for gateway in gateways { rig.enqueue(400, partition, gateway) }
        var order: [Destination] = []
        for _ in 0..<12 {
            let batches = rig.sent
            #expect(rig.batchCount <= 3)
            guard let next = batches.first else { break }
            order.append(next.destination)
            _ = rig.takeSent()
            rig.answer(next)
            for other in batches.dropFirst() {
                order.append(other.destination)
                rig.answer(other)
            }
        }
        #expect(order.count == 12)
        #expect(order.suffix(9).prefix(3).count == 3)
        #expect(Set(order[3..<6]).count >= 2)
    }

    @Test
    func `reading stops at the bound on records and goes on at half`() {
        var settings = OutboundSettings()
        settings.maximumRecords = 200
        let rig = OutboundRig(settings)
        let partitions = [rig.assign(), rig.assign()]
        let gateway = rig.destination("a")
        rig.enqueue(199, partitions[0], gateway)
        #expect(rig.paused.isEmpty && rig.room == 1)
        rig.enqueue(1, partitions[0], gateway)
        #expect(rig.paused == Set(partitions) && rig.room == 0)
        let late = rig.assign()
        rig.collect()
        #expect(rig.paused.contains(late))
        rig.advance(.milliseconds(5))
        let batches = rig.takeSent()
        rig.answer(batches[0])
        #expect(rig.paused.isEmpty && rig.room == 100)
    }

    @Test
    func `reading stops at the bound on bytes and at a destination's bound`() {
        var settings = OutboundSettings()
        settings.maximumBytes = 50_000
        settings.maximumRecordsPerDestination = 20
        let rig = OutboundRig(settings)
        let partition = rig.assign()
        for index in 0..<49 { rig.enqueue(partition, rig.destination("\(index)")) }
        #expect(rig.paused.isEmpty)
        rig.enqueue(partition, rig.destination("x"))
        #expect(!rig.paused.isEmpty)
        rig.advance(.milliseconds(5))
        for batch in rig.takeSent() { rig.answer(batch) }
        #expect(rig.paused.isEmpty)
        let gateway = rig.destination("y")
        rig.enqueue(20, partition, gateway)
        #expect(!rig.paused.isEmpty)
        rig.advance(.milliseconds(5))
        for batch in rig.takeSent() { rig.answer(batch) }
        #expect(rig.paused.isEmpty)
    }

    @Test
    func `a partition that is read too far past a stuck record waits, others go on`() {
        var settings = OutboundSettings()
        settings.offsetWindow = 100
        let rig = OutboundRig(settings)
        let stuck = rig.assign()
        let other = rig.assign()
        let hanging = rig.destination("a")
        let healthy = rig.destination("b")
        rig.enqueue(stuck, hanging)
        for _ in 0..<99 { rig.enqueue(stuck, healthy) }
        rig.advance(.milliseconds(5))
        let batches = rig.takeSent()
        for batch in batches where batch.destination == healthy { rig.answer(batch) }
        #expect(rig.paused == [stuck])
        rig.enqueue(10, other, healthy)
        for batch in batches where batch.destination == hanging { rig.answer(batch) }
        #expect(rig.paused.isEmpty)
        #expect(rig.committable(stuck) == 100)
    }

    @Test
    func `what comes back after a revocation moves nothing`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        let other = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(50, partition, gateway)
        rig.enqueue(100, other, gateway)
        let batch = rig.takeSent()[0]
        var answers = rig.answers(to: batch) { _ in .accepted }
        answers[0].outcome = .rejected
        rig.revoke(partition)
        #expect(rig.recordCount == 100)
        let again = rig.assign()
        #expect(again != partition)
        let ticket = rig.enqueue(again, gateway)
        rig.complete(batch, .answered(answers), status: 200)
        #expect(rig.takeRejections().isEmpty)
        #expect(rig.committable(partition) == nil)
        #expect(rig.committable(again) == nil)
        #expect(rig.committable(other) == 50)
        #expect(ticket.flatMap { rig.payload(of: $0) } == 0)
    }

    @Test
    func `a batch whose records were all taken away before it left is not sent, and its permit is free`() {
        var settings = OutboundSettings()
        settings.inFlight = InFlightLimit.Settings(minimum: 1, maximum: 1, initial: 1)
        let rig = OutboundRig(settings)
        let partition = rig.assign()
        let gateway = rig.destination("a")
        for offset: Int64 in 0..<100 {
            let record = OutboundRecord(
                partition: partition,
                offset: offset,
                destination: gateway,
                id: OutboundRig.id(UInt64(offset)),
                byteCount: 10,
                expires: rig.now.wall.adding(.seconds(100))
            )
            rig.engine.enqueue(record, 0, now: rig.now)
        }
        #expect(rig.batchCount == 1)
        rig.revoke(partition)
        #expect(rig.takeSent().isEmpty)
        #expect(rig.inFlight(to: gateway) == 0)
        let again = rig.assign()
        rig.enqueue(100, again, gateway)
        #expect(rig.takeSent().count == 1)
    }

    @Test
    func `the drain finishes what is under way and gives back the rest`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(150, partition, gateway)
        let batch = rig.takeSent()[0]
        rig.drain(within: .seconds(10))
        #expect(rig.recordCount == 100)
        #expect(rig.enqueue(partition, gateway) == nil)
        rig.answer(batch) {
            $0 == 7 ? .transient(.itemFailed) : $0 == 3 ? .faulty(.messageRefused) : .accepted
        }
        #expect(!rig.isDrained)
        rig.confirm(rig.takeLetters()[0].ticket)
        #expect(rig.isDrained)
        #expect(rig.committable(partition) == 7)
    }

    @Test
    func `the drain ends at its deadline whatever hangs`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        rig.enqueue(100, partition, rig.destination("a"))
        let batch = rig.takeSent()[0]
        rig.drain(within: .seconds(10))
        rig.run(.milliseconds(9999))
        #expect(!rig.isDrained)
        #expect(rig.nextDeadline == rig.now.monotonic + .milliseconds(1))
        rig.run(.milliseconds(1))
        #expect(rig.nextDeadline == nil)
        #expect(rig.isDrained)
        rig.answer(batch)
        #expect(rig.committable(partition) == nil)
    }

    @Test
    func `an engine at rest has no deadline`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        #expect(rig.nextDeadline == nil)
        rig.enqueue(250, partition, rig.destination("a"))
        rig.advance(.milliseconds(5))
        for batch in rig.takeSent() { rig.answer(batch) }
        rig.run(.seconds(10))
        #expect(rig.nextDeadline == nil)
    }
}
