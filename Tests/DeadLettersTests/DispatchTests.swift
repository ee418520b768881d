import Kafka
import Push
import Simulation
import Support
import Testing

@testable import DeadLetters

/// Replays with a dispatch lane behind them, as in production.
@Suite(.serialized) struct DispatchTests {
    /// Dead letters for a gateway of the test's own.
    private func letters(_ count: Int, at origin: String) -> [TestLetter] {
        (0..<count).map { number in
            var letter = TestLetter(number)
            letter.origin = origin
            letter.expires = Fixture.now.adding(.seconds(3600)).milliseconds
            return letter
        }
    }

    /// A gateway that takes every request and can carry none of it out; one that is away altogether makes no dead letters.
    private var failing: GatewayConduct {
        var conduct = GatewayConduct()
        for number in 0..<100 { conduct.failures[TestLetter(number).id] = "provider is away" }
        return conduct
    }

    /// Waits until `count` letters are open, which have come back.
    private func awaitOpen(_ count: Int, _ fixture: Fixture) throws {
        try eventually("\(count) letters are open", within: .seconds(120)) {
            try fixture.open().count == count
        }
    }

    @Test(.needsKafka)
    func
        `D7: replayed into a gateway that is still broken, each letter is sent as often as allowed and then parked`()
        throws
    {
        let fixture = try Fixture()
        let dispatch = try RunningDispatch(fixture, failing)
        defer { dispatch.stop() }
        let letters = letters(100, at: dispatch.origin)
        try fixture.register(letters)
        try fixture.publish(letters)
        let rules = ReplayRules(maximumReplays: 2)
        for round in 1...2 {
            let report = try fixture.replay(DeadLetterFilter(), rules)
            #expect(report.tally.replayed == 100 && report.tally.parked == 0)
            try awaitOpen(100, fixture)
            let open = try fixture.open()
            #expect(open.allSatisfy { $0.facts.history.replayCount == round })
            #expect(open.allSatisfy { $0.facts.history.replayID == report.id.description })
            // Attempts are counted anew after each replay, and the first failure is kept.
            #expect(open.allSatisfy { $0.facts.history.attempts == 2 })
            #expect(open.allSatisfy { $0.facts.history.origin?.offset == Int64($0.number) })
        }
        let last = try fixture.replay(DeadLetterFilter(), rules)
        #expect(last.tally.parked == 100 && last.tally.replayed == 0)
        #expect(try fixture.open().isEmpty)
        #expect(try fixture.ids(on: fixture.topics.parking).sorted() == letters.map(\.id).sorted())
        // Two replays of two attempts each.
        #expect(dispatch.counts.count == 100 && dispatch.counts.values.allSatisfy { $0 == 4 })

        dispatch.behave(.regular)
        let mended = try fixture.replay(from: fixture.parking)
        #expect(mended.tally.replayed == 100)
        try eventually("all are delivered and acknowledged") {
            try dispatch.counts.values.allSatisfy { $0 == 5 }
                && fixture.witness.lag(of: fixture.topics.dispatchGroup, on: fixture.topics.notifications)
                    == 0
        }
        #expect(try fixture.open().isEmpty)
    }

    @Test(.needsKafka) func `a forced letter is really sent`() throws {
        let fixture = try Fixture()
        let dispatch = try RunningDispatch(fixture, .regular)
        defer { dispatch.stop() }
        var letters = letters(3, at: dispatch.origin)
        for index in letters.indices { letters[index].expires = 1_700_100_000_000 }
        try fixture.register(letters)
        try fixture.publish(letters)
        let report = try fixture.replay(DeadLetterFilter(), ReplayRules(forcesExpired: true))
        #expect(report.tally.forced == 3)
        try eventually("all are delivered") { dispatch.counts.count == 3 }
        try eventually("all are acknowledged") {
            try fixture.witness.lag(of: fixture.topics.dispatchGroup, on: fixture.topics.notifications) == 0
        }
        #expect(dispatch.counts.values.allSatisfy { $0 == 1 })
        #expect(try fixture.open().isEmpty)
    }

    @Test(.needsKafka)
    func
        `D1: fifty cycles of failing and replaying leave the headers as they were, and the first failure with them`()
        throws
    {
        let fixture = try Fixture(partitions: 1)
        let dispatch = try RunningDispatch(fixture, failing, attempts: 1)
        defer { dispatch.stop() }
        let letters = letters(1, at: dispatch.origin)
        try fixture.register(letters)
        try fixture.publish(letters)
        var sizes: [Int] = []
        for cycle in 1...50 {
            let report = try fixture.replay(DeadLetterFilter(), ReplayRules(maximumReplays: 1000))
            #expect(report.tally.replayed == 1, "cycle \(cycle)")
            try awaitOpen(1, fixture)
            let letter = try #require(try fixture.open().first)
            #expect(letter.facts.history.replayCount == cycle)
            sizes.append(letter.record.headers.byteCount)
        }
        // Of all that a letter tells, only the number of replays grows by a digit.
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
        let letter = try #require(try fixture.open().first)
        #expect(letter.facts.history.origin == letters[0].history.origin)
        #expect(letter.facts.history.firstFailedAt == letters[0].history.firstFailedAt)
        #expect(letter.record.value == Array(letters[0].value.utf8))
        let original = letter.record.headers.filter { !FailureHeader.isOne($0.name) }
        #expect(original == letters[0].original)
    }
}

extension Letter {
    /// The number that its notification id ends with.
    fileprivate var number: UInt64 {
        let low = record.headers.withValue("id") { NotificationID(text: $0)?.uuid.low } ?? nil
        return (low ?? 0) & 0xffff
    }
}
