import Testing

@testable import Push

/// Batches, answers and endings.
struct OutboundEngineTests {
    @Test
    func `a batch leaves at its number of items, the rest after the linger`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(130, partition, gateway)
        #expect(rig.takeSent().map(\.tickets.count) == [100])
        rig.advance(.milliseconds(4))
        #expect(rig.takeSent().isEmpty)
        rig.advance(.milliseconds(1))
        #expect(rig.takeSent().map { rig.payloads($0) } == [Array(100..<130)])
    }

    @Test
    func `a batch leaves at its byte limit`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        let limits = BatchLimits(maximumBytes: 3050, framing: 20, itemFraming: 1, linger: .seconds(1))
        let gateway = rig.destination("a", limits: limits)
        rig.enqueue(7, partition, gateway)
        #expect(rig.takeSent().map(\.tickets.count) == [3, 3])
        rig.advance(.seconds(1))
        #expect(rig.takeSent().map(\.tickets.count) == [1])
    }

    @Test
    func `an item that fits into no request is a dead letter and holds nobody up`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        let gateway = rig.destination("a", limits: BatchLimits(maximumBytes: 5000))
        let ticket = rig.enqueue(partition, gateway, bytes: 6000)
        rig.enqueue(partition, gateway)
        let letters = rig.takeLetters()
        #expect(letters.map(\.ticket) == [ticket])
        #expect(letters.first?.letter == DeadLetter(reason: .notificationTooLarge, attempts: 0, note: nil))
        rig.advance(.milliseconds(5))
        #expect(rig.takeSent().map { rig.payloads($0) } == [[1]])
    }

    @Test
    func `the same id never travels twice in one batch`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        let gateway = rig.destination("a")
        for id: UInt64 in [1, 2, 1, 3] { rig.enqueue(partition, gateway, id: id) }
        rig.advance(.milliseconds(5))
        #expect(rig.takeSent().map { rig.payloads($0) } == [[0, 1], [2, 3]])
    }

    @Test
    func `results in every order give each item its own outcome`() {
        let outcomes: [Outcome] = [
            .accepted, .rejected, .transient(.itemFailed), .faulty(.messageRefused), .accepted,
        ]
        for order in permutations(5) {
            let rig = OutboundRig()
            let partition = rig.assign()
            let tickets = rig.enqueue(5, partition, rig.destination("a"))
            rig.advance(.milliseconds(5))
            let batch = rig.takeSent()[0]
            let answers = rig.answers(to: batch) { outcomes[$0] }
            rig.complete(batch, .answered(order.map { answers[$0] }), status: 200)
            #expect(rig.takeRejections() == [tickets[1]])
            #expect(rig.takeLetters().map(\.ticket) == [tickets[3]])
            #expect(rig.counters.accepted == 2)
            #expect(rig.recordCount == 3)
            #expect(rig.committable(partition) == 1)
        }
    }

    @Test
    func `a rejection holds the commit until the pusher is deleted`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        rig.enqueue(2, partition, rig.destination("a"))
        rig.advance(.milliseconds(5))
        rig.answer(rig.takeSent()[0]) { $0 == 0 ? .rejected : .accepted }
        #expect(rig.progress.isEmpty)
        let rejected = rig.takeRejections()[0]
        rig.confirm(rejected)
        #expect(rig.committable(partition) == 2)
        #expect(rig.payload(of: rejected) == nil)
        rig.confirm(rejected)
        #expect(rig.recordCount == 0)
    }

    @Test
    func `a rejection that is not believed yet is tried again`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        let gateway = rig.destination("a")
        rig.enqueue(partition, gateway)
        rig.advance(.milliseconds(5))
        rig.answer(rig.takeSent()[0]) { _ in .rejected }
        rig.attemptAgain(rig.takeRejections()[0])
        #expect(rig.load(of: gateway) == 1)
        rig.run(.seconds(10)) { !$0.sent.isEmpty }
        rig.answer(rig.takeSent()[0])
        #expect(rig.committable(partition) == 1)
        #expect(rig.load(of: gateway) == 0)
    }

    @Test
    func `a dead letter that cannot be written is asked for again and holds the commit`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        rig.enqueue(1, partition, rig.destination("a"))
        rig.advance(.milliseconds(5))
        rig.answer(rig.takeSent()[0]) { _ in .faulty(.messageRefused) }
        for _ in 0..<20 {
            let letters = rig.takeLetters()
            #expect(letters.count == 1)
            rig.confirmationFailed(letters[0].ticket)
            #expect(rig.committable(partition) == nil)
            rig.run(.seconds(5)) { !$0.letters.isEmpty }
        }
        rig.confirm(rig.takeLetters()[0].ticket)
        #expect(rig.committable(partition) == 1)
    }

    @Test
    func `a record at fault before it has a destination is a dead letter`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        rig.engine.skip(partition, offset: 3)
        let ticket = rig.engine.condemn(
            partition,
            offset: 5,
            42,
            footprint: 10,
            reason: .malformedNotification,
            detail: "no gateway",
            now: rig.now
        )
        rig.collect()
        let letters = rig.takeLetters()
        #expect(letters.map(\.ticket) == [ticket])
        #expect(letters[0].letter.note?.detail == "no gateway")
        #expect(rig.payload(of: letters[0].ticket) == 42)
        #expect(rig.committable(partition) == 4)
        rig.confirm(letters[0].ticket)
        #expect(rig.committable(partition) == 6)
    }

    @Test
    func `unknown and missing results are counted, and what is missing is tried again`() {
        let rig = OutboundRig()
        let partition = rig.assign()
        rig.enqueue(2, partition, rig.destination("a"))
        rig.advance(.milliseconds(5))
        let batch = rig.takeSent()[0]
        let stranger = ItemAnswer(id: OutboundRig.id(999), outcome: .rejected)
        rig.complete(batch, .answered([rig.answers(to: batch) { _ in .accepted }[1], stranger]), status: 200)
        #expect(rig.counters.unknownIDs == 1)
        #expect(rig.counters.missingResults == 1)
        #expect(rig.takeRejections().isEmpty)
        rig.run(.seconds(10)) { !$0.sent.isEmpty }
        #expect(rig.takeSent().map { rig.payloads($0) } == [[0]])
    }

    @Test
    func `one bad item among a hundred costs at most 14 requests, keeps order, and is the only dead letter`()
    {
        for bad in 0..<100 {
            let rig = OutboundRig()
            let partition = rig.assign()
            rig.enqueue(100, partition, rig.destination("a"))
            var requests = 0
            var batches = rig.takeSent()
            while !batches.isEmpty {
                for batch in batches {
                    requests += 1
                    let payloads = rig.payloads(batch)
                    #expect(payloads == payloads.sorted())
                    if payloads.contains(bad) {
                        rig.complete(batch, .refused, status: 400)
                    } else {
                        rig.answer(batch)
                    }
                }
                batches = rig.takeSent()
            }
            #expect(requests <= 14)
            let letters = rig.takeLetters()
            #expect(letters.compactMap { rig.payload(of: $0.ticket) } == [bad])
            #expect(letters.map(\.letter.reason) == [.messageRefused])
            #expect(letters.first?.letter.note?.status == 400)
            for letter in letters { rig.confirm(letter.ticket) }
            #expect(rig.committable(partition) == 100)
        }
    }

    @Test
    func `a destination that is idle makes room for another, a busy one does not`() {
        var settings = OutboundSettings()
        settings.maximumDestinations = 2
        let rig = OutboundRig(settings)
        let partition = rig.assign()
        let busy = rig.destination("a")
        rig.enqueue(1, partition, busy)
        let idle = rig.destination("b")
        #expect(rig.destination("a") == busy)
        #expect(rig.destination("c") == idle)
        #expect(rig.destination("a") == busy)
    }

    private func permutations(_ count: Int) -> [[Int]] {
        guard count > 0 else { return [[]] }
        return permutations(count - 1).flatMap { shorter in
            (0..<count).map { place in
                var longer = shorter
                longer.insert(count - 1, at: place)
                return longer
            }
        }
    }
}
