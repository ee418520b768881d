import Testing

@testable import Push

/// Failures, pauses and retries.
struct OutboundFailureTests {
    private static func inLane(attempts: Int = 5) -> OutboundSettings {
        var settings = OutboundSettings()
        settings.transient = .inLane(
            Backoff(first: .seconds(1), maximum: .seconds(10), maximumAttempts: attempts)
        )
        settings.breaker.failures = 3
        return settings
    }

    private static func retryTopic() -> OutboundSettings {
        var settings = OutboundSettings()
        settings.transient = .retryTopic(RetrySchedule())
        settings.breaker.failures = 3
        settings.breaker.pause = .seconds(20)
        settings.maximumRecordsPerDestination = 150
        return settings
    }

    @Test
    func `an item that keeps failing is tried as often as set, each time later, and is then a dead letter`() {
        let rig = OutboundRig(Self.inLane())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(2, partition, gateway)
        var moments: [Duration] = []
        rig.run(.seconds(600)) { !$0.letters.isEmpty || !$0.sent.isEmpty }
        while rig.letters.isEmpty {
            for batch in rig.takeSent() {
                if rig.payloads(batch).contains(0) { moments.append(rig.now.monotonic) }
                rig.answer(batch) { $0 == 0 ? .transient(.itemFailed) : .accepted }
            }
            guard rig.now.monotonic < .seconds(5000) else { break }
            rig.run(.seconds(600)) { !$0.letters.isEmpty || !$0.sent.isEmpty }
        }
        #expect(moments.count == 5)
        for (earlier, later) in zip(moments, moments.dropFirst()) {
            #expect(later - earlier >= .milliseconds(500))
        }
        let letter = rig.takeLetters()[0].letter
        #expect(letter.reason == .outOfAttempts && letter.attempts == 5)
        #expect(letter.note?.cause == "item_failed")
        #expect((letter.note?.lastFailedAt ?? rig.now.wall) > (letter.note?.firstFailedAt ?? rig.now.wall))
    }

    @Test(arguments: [BatchResult.transient(.timeout), .transient(.serverError), .transient(.connection)])
    func `a destination that is away costs its records no attempts beyond the first ones`(result: BatchResult)
    {
        let rig = OutboundRig(Self.inLane(attempts: 4))
        let partition = rig.assign()
        rig.enqueue(3, partition, rig.destination("a"))
        for _ in 0..<3000 {
            for batch in rig.takeSent() { rig.complete(batch, result, status: 500) }
            rig.run(.seconds(2)) { !$0.sent.isEmpty }
        }
        #expect(rig.takeLetters().isEmpty)
        #expect(rig.counters.probes > 20)
        for _ in 0..<3000 where rig.recordCount > 0 {
            for batch in rig.takeSent() { rig.answer(batch) }
            rig.run(.seconds(2)) { !$0.sent.isEmpty }
        }
        #expect(rig.committable(partition) == 3)
        #expect(rig.recoveries.count == 1)
    }

    @Test
    func `half-open sends one record and nothing else until it is back`() {
        let rig = OutboundRig(Self.inLane())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(600, partition, gateway)
        for batch in rig.takeSent() { rig.complete(batch, .fault(.credential), status: 401) }
        #expect(rig.alarms.map(\.1) == [.fault(.credential)])
        rig.run(.seconds(5)) { !$0.sent.isEmpty }
        let probe = rig.takeSent()
        #expect(probe.map(\.tickets.count) == [1])
        #expect(probe[0].isProbe)
        rig.enqueue(300, partition, gateway)
        rig.run(.seconds(30))
        #expect(rig.sent.isEmpty)
        rig.answer(probe[0])
        #expect(rig.sent.count > 1)
    }

    @Test(arguments: [DestinationFault.credential, .configuration, .forbiddenAddress])
    func `a fault keeps the records, in their order, up to their expiry`(fault: DestinationFault) {
        let rig = OutboundRig(Self.inLane(attempts: 2))
        let partition = rig.assign()
        let gateway = rig.destination("a")
        for index in 0..<10 {
            rig.enqueue(partition, gateway, expiresIn: .seconds(index == 4 ? 100 : 100_000))
        }
        for _ in 0..<50 {
            rig.run(.seconds(60)) { !$0.sent.isEmpty }
            for batch in rig.takeSent() { rig.complete(batch, .fault(fault), status: 403) }
        }
        #expect(rig.alarms.count == 1)
        let letters = rig.takeLetters()
        #expect(letters.map { rig.payload(of: $0.ticket) } == [4])
        #expect(letters.map(\.letter.reason) == [.expired])
        #expect(letters.first?.letter.note?.cause == fault.rawValue)
        rig.run(.seconds(120)) { !$0.sent.isEmpty }
        rig.answer(rig.takeSent()[0])
        rig.run(.seconds(1)) { !$0.sent.isEmpty }
        #expect(rig.takeSent().map { rig.payloads($0) } == [[1, 2, 3, 5, 6, 7, 8, 9]])
    }

    @Test
    func `a request to wait is obeyed up to the expiry`() {
        let rig = OutboundRig(Self.inLane())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(partition, gateway, expiresIn: .seconds(60))
        rig.enqueue(partition, gateway, expiresIn: .seconds(3600))
        rig.advance(.milliseconds(5))
        rig.complete(
            rig.takeSent()[0],
            .transient(.throttled, after: rig.now.wall.adding(.seconds(600))),
            status: 429
        )
        let throttledAt = rig.now.monotonic
        rig.run(.seconds(58))
        #expect(rig.letters.isEmpty)
        rig.run(.seconds(4))
        #expect(rig.takeLetters().map(\.letter.reason) == [.expired])
        rig.run(.seconds(1000)) { !$0.sent.isEmpty }
        #expect(rig.now.monotonic - throttledAt >= .seconds(600))
        #expect(rig.now.monotonic - throttledAt <= .seconds(661))
        #expect(rig.payloads(rig.takeSent()[0]) == [1])
    }

    @Test
    func `an item's own request to wait is obeyed, and one past the expiry ends there`() {
        let rig = OutboundRig(Self.inLane())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(partition, gateway)
        rig.enqueue(partition, gateway, expiresIn: .seconds(100))
        rig.enqueue(partition, gateway)
        rig.advance(.milliseconds(5))
        let start = rig.now
        rig.answer(rig.takeSent()[0]) {
            $0 == 2 ? .accepted : .transient(.throttled, after: start.wall.adding(.seconds(300)))
        }
        rig.run(.seconds(99))
        #expect(rig.letters.isEmpty && rig.sent.isEmpty)
        rig.run(.seconds(2))
        #expect(rig.takeLetters().map(\.letter.reason) == [.expired])
        rig.run(.seconds(400)) { !$0.sent.isEmpty }
        #expect(rig.now.monotonic - start.monotonic >= .seconds(300))
    }

    @Test
    func `nothing expired is sent, not even from a full queue`() {
        let rig = OutboundRig(Self.inLane())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(partition, gateway, expiresIn: .seconds(-1))
        #expect(rig.takeLetters().map(\.letter.reason) == [.expired])
        for _ in 0..<4 {
            for _ in 0..<100 { rig.enqueue(partition, gateway, expiresIn: .milliseconds(500)) }
        }
        for _ in 0..<50 { rig.enqueue(partition, gateway, expiresIn: .milliseconds(500)) }
        let batches = rig.takeSent()
        #expect(batches.count == 4)
        rig.now.monotonic += .milliseconds(600)
        rig.now.wall = rig.now.wall.adding(milliseconds: 600)
        for batch in batches { rig.answer(batch) }
        #expect(rig.takeSent().isEmpty)
        #expect(rig.takeLetters().count == 50)
    }

    @Test
    func `what makes whole batches fail soon travels alone and takes nobody along`() {
        let rig = OutboundRig(Self.inLane(attempts: 12))
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(100, partition, gateway)
        for _ in 0..<2000 where rig.letters.isEmpty {
            for batch in rig.takeSent() {
                if rig.payloads(batch).contains(42) {
                    rig.complete(batch, .transient(.serverError), status: 500)
                } else {
                    rig.answer(batch)
                }
            }
            // Others keep showing that the destination works.
            rig.enqueue(partition, gateway)
            rig.run(.milliseconds(100))
        }
        let letters = rig.takeLetters()
        #expect(letters.map { rig.payload(of: $0.ticket) } == [42])
        #expect(letters.map(\.letter.reason) == [.outOfAttempts])
    }

    @Test
    func `with retry topics a failure goes up a step each time, with its attempts`() {
        let rig = OutboundRig(Self.retryTopic())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        for handOvers in 0..<6 { rig.enqueue(partition, gateway, attempts: handOvers, handOvers: handOvers) }
        rig.advance(.milliseconds(5))
        rig.complete(rig.takeSent()[0], .transient(.timeout))
        let handOvers = rig.takeHandOvers()
        #expect(handOvers.map(\.handOver.step) == [0, 1, 2, 3, 4, 4])
        #expect(handOvers.map(\.handOver.attempts) == [1, 2, 3, 4, 5, 6])
        #expect(handOvers.map(\.handOver.handOvers) == [1, 2, 3, 4, 5, 6])
        #expect(handOvers[0].handOver.due >= rig.now.wall.adding(.seconds(30)))
        #expect(handOvers[0].handOver.note.cause == "timeout")
        #expect(rig.committable(partition) == nil)
        for (ticket, _) in handOvers { rig.confirm(ticket) }
        #expect(rig.committable(partition) == 6)
    }

    @Test
    func `with retry topics an open breaker sheds at once, without an attempt, and still probes`() {
        let rig = OutboundRig(Self.retryTopic())
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(120, partition, gateway)
        rig.complete(rig.takeSent()[0], .fault(.configuration), status: 404)
        #expect(rig.takeHandOvers().count == 120)
        rig.enqueue(50, partition, gateway)
        let shed = rig.takeHandOvers()
        #expect(shed.count == 50)
        #expect(shed.allSatisfy { $0.handOver.attempts == 0 && $0.handOver.note.cause == "shed" })
        rig.advance(.seconds(20))
        rig.enqueue(1, partition, gateway)
        rig.advance(.milliseconds(5))
        let probe = rig.takeSent()
        #expect(probe.map(\.isProbe) == [true])
        rig.enqueue(10, partition, gateway)
        #expect(rig.takeHandOvers().count == 10)
        rig.answer(probe[0])
        rig.enqueue(100, partition, gateway)
        #expect(rig.takeSent().map(\.tickets.count) == [100])
        #expect(rig.takeLetters().isEmpty)
        #expect(rig.paused.isEmpty)
    }
}
