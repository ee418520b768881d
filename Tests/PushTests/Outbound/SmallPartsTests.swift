import Testing

@testable import Push

struct InFlightLimitTests {
    @Test
    func `success doubles the allowance per round trip, up to the maximum`() {
        var limit = InFlightLimit(InFlightLimit.Settings(minimum: 1, maximum: 16, initial: 2))
        for expected in [4, 8, 16, 16] {
            roundTrip(&limit)
            #expect(limit.allowance == expected)
        }
    }

    @Test
    func `after an overload it grows by one per round trip`() {
        var limit = InFlightLimit(InFlightLimit.Settings(minimum: 1, maximum: 16, initial: 8))
        let departure = limit.depart()
        limit.arrive()
        limit.overload(departure)
        #expect(limit.allowance == 4)
        var trips = 0
        while limit.allowance < 8, trips < 100 {
            roundTrip(&limit)
            trips += 1
        }
        #expect((4...6).contains(trips))
    }

    /// As many successes as were allowed at the beginning, with the allowance used up all the time.
    private func roundTrip(_ limit: inout InFlightLimit) {
        for _ in 0..<limit.allowance {
            var departures: [InFlightLimit.Departure] = []
            while limit.hasRoom { departures.append(limit.depart()) }
            for _ in departures { limit.arrive() }
            if let last = departures.last { limit.succeed(last) }
        }
    }

    @Test
    func `one overload halves once, and many go down to the minimum`() {
        var limit = InFlightLimit(InFlightLimit.Settings(minimum: 1, maximum: 16, initial: 16))
        let together = (0..<16).map { _ in limit.depart() }
        for departure in together {
            limit.arrive()
            limit.overload(departure)
        }
        #expect(limit.allowance == 8)
        for expected in [4, 2, 1, 1] {
            let departure = limit.depart()
            limit.arrive()
            limit.overload(departure)
            #expect(limit.allowance == expected)
        }
    }

    @Test
    func `an idle destination earns nothing`() {
        var limit = InFlightLimit(InFlightLimit.Settings(minimum: 1, maximum: 16, initial: 4))
        for _ in 0..<100 {
            let departure = limit.depart()
            limit.arrive()
            limit.succeed(departure)
        }
        #expect(limit.allowance == 4)
    }

    @Test
    func `nonsense settings become sensible ones`() {
        let settings = InFlightLimit.Settings(minimum: 0, maximum: -3, initial: 99)
        #expect(settings.minimum == 1 && settings.maximum == 1 && settings.initial == 1)
    }
}

struct BackoffTests {
    @Test(arguments: [(1, 1), (2, 2), (3, 4), (7, 60), (1000, 60), (0, 1), (-5, 1)])
    func `the pause doubles up to the maximum, of that between half and all`(attempts: Int, seconds: Int) {
        var jitter = Jitter(seed: 3)
        let backoff = Backoff(first: .seconds(1), maximum: .seconds(60), maximumAttempts: 5)
        for _ in 0..<100 {
            let pause = backoff.pause(after: attempts, jitter: &jitter)
            #expect(pause >= .seconds(seconds) / 2 && pause <= .seconds(seconds))
        }
    }
}

struct RetryScheduleTests {
    @Test(arguments: [
        (0, 0, 43_200, 0), (1, 0, 43_200, 1), (4, 0, 43_200, 4), (9, 0, 43_200, 4), (-1, 0, 43_200, 0),
        // The destination asks for more time.
        (0, 100, 43_200, 1), (0, 7200, 43_200, 4), (0, 99_999, 999_999, 4),
        // The record would expire there.
        (4, 0, 7200, 3), (4, 0, 100, 0), (4, 0, 5, 0), (0, 7200, 600, 2),
    ])
    func `the next step`(handOvers: Int, asked: Int, remaining: Int, step: Int) {
        let schedule = RetrySchedule()
        #expect(
            schedule.step(after: handOvers, atLeast: .seconds(asked), remaining: .seconds(remaining)) == step
        )
    }

    @Test
    func `jitter lengthens and never shortens`() {
        var jitter = Jitter(seed: 3)
        let schedule = RetrySchedule()
        for _ in 0..<100 {
            let pause = schedule.pause(at: 1, jitter: &jitter)
            #expect(pause >= .seconds(120) && pause <= .seconds(132))
        }
    }
}

struct BatchMeterTests {
    private func admitted(
        _ sizes: [Int],
        _ limits: BatchLimits,
        sharedFailures: [Int] = [],
        cap: Int = .max
    ) -> Int {
        var meter = BatchMeter(limits, cap: cap)
        var count = 0
        for (index, size) in sizes.enumerated() {
            let failures = index < sharedFailures.count ? sharedFailures[index] : 0
            guard meter.admit(bytes: size, sharedFailures: failures) else { break }
            count += 1
        }
        return count
    }

    @Test
    func `a batch is full at its number of items`() {
        #expect(admitted(Array(repeating: 10, count: 200), BatchLimits()) == 100)
        #expect(admitted(Array(repeating: 10, count: 200), BatchLimits(maximumItems: 7)) == 7)
        #expect(BatchLimits(maximumItems: 1000).maximumItems == 100)
    }

    @Test(arguments: [(1000, 10 + 3 * 334, 3), (1000, 10 + 3 * 334 - 1, 2)])
    func `framing counts towards the bytes of a request`(unused: Int, maximum: Int, count: Int) {
        let limits = BatchLimits(maximumBytes: maximum, framing: 10, itemFraming: 1)
        #expect(admitted(Array(repeating: 333, count: 10), limits) == count)
    }

    @Test(arguments: [(89, false), (90, true), (Int.max, true)])
    func `what fits into no request is oversize`(bytes: Int, isOversize: Bool) {
        #expect(BatchLimits(maximumBytes: 99, framing: 9, itemFraming: 1).isOversize(bytes) == isOversize)
    }

    @Test
    func `company halves with each failure that was shared`() {
        for (failures, count) in [(0, 100), (1, 50), (2, 25), (6, 1), (7, 1), (99, 1)] {
            let sizes = Array(repeating: 1, count: 100)
            let shared = Array(repeating: failures, count: 100)
            #expect(admitted(sizes, BatchLimits(), sharedFailures: shared) == count)
        }
        // The shyest in the line decides, and does not join what is too large for it.
        #expect(admitted(Array(repeating: 1, count: 100), BatchLimits(), sharedFailures: [0, 0, 0, 6]) == 3)
        #expect(admitted(Array(repeating: 1, count: 100), BatchLimits(), sharedFailures: [5, 0, 0, 0]) == 3)
    }

    @Test
    func `a probe takes one item`() {
        #expect(admitted([1, 1, 1], BatchLimits(), cap: 1) == 1)
    }
}

struct BisectionTests {
    /// Plays a receiver that refuses whatever contains something bad.
    ///
    /// - Returns: how many requests it took, the first included, what was condemned and what was taken.
    private func play(_ count: Int, bad: Set<Int>) -> (requests: Int, condemned: Set<Int>, taken: Set<Int>) {
        var line = [Piece(items: Array(0..<count))]
        var result = (requests: 0, condemned: Set<Int>(), taken: Set<Int>())
        while !line.isEmpty {
            var piece = line.removeFirst()
            result.requests += 1
            if bad.isDisjoint(with: piece.items) {
                result.taken.formUnion(piece.items)
                line += piece.afterAnswer()
            } else {
                if piece.items.count == 1 { result.condemned.insert(piece.items.removeLast()) }
                line += piece.afterRefusal()
            }
        }
        return result
    }

    @Test
    func `one bad item among any number costs at most 2 log2 n + 1 requests`() {
        for count in 1...100 {
            for bad in 0..<count {
                let result = play(count, bad: [bad])
                // requests <= 2 * log2(count) + 1, without floating point: 2^(requests - 1) <= count^2
                #expect(1 << (result.requests - 1) <= count * count, "\(bad) of \(count): \(result.requests)")
                #expect(result.condemned == [bad])
                #expect(result.taken.count == count - 1)
            }
        }
    }

    @Test
    func `every set of bad ones among eight is found exactly`() {
        for mask in 0..<256 {
            let bad = Set((0..<8).filter { mask >> $0 & 1 == 1 })
            let result = play(8, bad: bad)
            #expect(result.condemned == bad)
            #expect(result.taken == Set(0..<8).subtracting(bad))
        }
    }

    @Test
    func `halves keep the order`() {
        let piece = Piece.halves(of: Array(0..<7))
        #expect(piece.items + piece.held == Array(0..<7))
    }
}

struct DeadlineHeapTests {
    @Test(arguments: 0..<10)
    func `the earliest comes first and nothing before its time`(seed: UInt64) {
        var random = Jitter(seed: seed)
        var heap = DeadlineHeap<Int>()
        for index in 0..<500 {
            heap.insert(index, due: .milliseconds(Int.random(in: 0..<1000, using: &random)))
        }
        let early = heap.popDue(at: .milliseconds(-1))
        #expect(early == nil)
        var last = Duration.zero
        var seen: Set<Int> = []
        while let (due, element) = heap.popDue(at: .seconds(1)) {
            #expect(due >= last)
            last = due
            seen.insert(element)
        }
        #expect(seen.count == 500)
    }
}

struct FIFOTests {
    @Test
    func `things come out in the order in which they went in`() {
        var queue = FIFO<Int>()
        var taken = 0
        for index in 0..<10_000 {
            queue.append(index)
            if index % 3 != 0 {
                let next = queue.popFirst()
                #expect(next == taken)
                taken += 1
            }
        }
        #expect(queue.count == 10_000 - taken)
        let rest = queue.takeAll()
        #expect(rest == Array(taken..<10_000))
        #expect(queue.isEmpty)
    }
}

struct AnswerMatcherTests {
    private func items(_ count: Int) -> [BatchState.Item] {
        (0..<count).map {
            BatchState.Item(ticket: Ticket(slot: Int32($0), generation: 0), id: OutboundRig.id(UInt64($0)))
        }
    }

    private func answer(_ id: UInt64, _ outcome: Outcome) -> ItemAnswer {
        ItemAnswer(id: OutboundRig.id(id), outcome: outcome)
    }

    @Test
    func `missing, unknown, doubled and contradictory results`() {
        var matcher = AnswerMatcher()
        matcher.read(
            [
                answer(3, .accepted), answer(99, .rejected), answer(1, .accepted), answer(1, .accepted),
                answer(0, .accepted), answer(0, .rejected), answer(0, .accepted),
            ],
            about: items(4)
        )
        #expect(
            matcher.outcomes == [
                .transient(.contradictoryResult), .accepted, .transient(.missingResult), .accepted,
            ]
        )
        #expect(matcher.unknown == 1 && matcher.missing == 1 && matcher.contradictory == 1)
        matcher.read([], about: items(2))
        #expect(matcher.outcomes == [.transient(.missingResult), .transient(.missingResult)])
        #expect(matcher.unknown == 0 && matcher.missing == 2)
    }
}
