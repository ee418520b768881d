import Kafka
import Push
import Testing

@testable import DeadLetters

struct JudgeTests {
    private static let topics = TopicCatalogue()
    private static let now = Timestamp(milliseconds: 2_000_000)
    private static let pusher = PusherID(UUIDBytes(high: 1, low: 2))

    private func letter(_ subject: Letter.Subject, replays: Int = 0) -> Letter {
        var history = FailureHistory()
        history.replayCount = replays
        return Letter(
            record: Record(topic: "t", partition: 0, offset: 5, timestamp: 1, key: nil, value: []),
            facts: DeadLetterFacts(
                partition: 0,
                offset: 5,
                history: history,
                stage: .dispatch,
                failedAt: Self.now
            ),
            subject: subject
        )
    }

    private func notification(
        month: String? = "2026-11",
        expires: Int64 = 3_000_000,
        registered: Int64 = 1000
    ) -> Letter.Subject {
        .notification(
            NotificationSubject(
                user: Array("u".utf8),
                pusher: Self.pusher,
                expires: Timestamp(milliseconds: expires),
                registered: Timestamp(milliseconds: registered),
                gateway: "https://gateway.example",
                month: month.flatMap { Month($0) },
                format: .gematik12Encrypted
            )
        )
    }

    private func facts(chain: String? = "2026-11", registered: Int64 = 1000) -> Circumstances {
        var facts = Circumstances()
        facts.gateways = ["https://gateway.example"]
        facts.pushers[Self.pusher] = Circumstances.Pusher(
            chainMonth: chain.flatMap { Month($0) },
            registered: Timestamp(milliseconds: registered)
        )
        return facts
    }

    private func cause(_ verdict: Verdict) -> ReplayRefusal.Cause? {
        if case .refuse(let refusal) = verdict { refusal.cause } else { nil }
    }

    private func judge(_ kind: LetterSource.Kind = .dispatch, _ rules: ReplayRules = ReplayRules()) -> Judge {
        Judge(LetterSource(kind, of: Self.topics), rules)
    }

    @Test(arguments: [
        ("2026-11", "2026-11", true), ("2026-11", "2026-12", true), ("2026-12", "2027-01", true),
        ("2026-11", "2027-01", false), ("2026-11", "2027-06", false), ("2026-12", "2026-11", true),
    ])
    func `D9: a device keeps its newest month and the one before`(sealed: String, newest: String, opens: Bool)
    {
        let verdict = judge().verdict(
            on: letter(notification(month: sealed)),
            facts(chain: newest),
            now: Self.now
        )
        #expect(verdict == .replay(isForced: false) || cause(verdict) == .keyWindowPassed)
        #expect((verdict == .replay(isForced: false)) == opens)
    }

    @Test func `a chain made anew, or none, opens nothing old; plain messages do not ask`() {
        let judge = judge()
        let anew = facts(registered: 1001)
        #expect(cause(judge.verdict(on: letter(notification()), anew, now: Self.now)) == .keyWindowPassed)
        let none = facts(chain: nil)
        #expect(cause(judge.verdict(on: letter(notification()), none, now: Self.now)) == .keyWindowPassed)
        for facts in [anew, none] {
            let verdict = judge.verdict(on: letter(notification(month: nil)), facts, now: Self.now)
            #expect(verdict == .replay(isForced: false))
        }
    }

    @Test func `what is missing is found before what has passed, and force heals only time`() {
        let forcing = judge(.dispatch, ReplayRules(forcesExpired: true))
        let late = letter(notification(expires: 2_000_000))
        #expect(cause(judge().verdict(on: late, facts(), now: Self.now)) == .expired)
        #expect(forcing.verdict(on: late, facts(), now: Self.now) == .replay(isForced: true))
        #expect(cause(forcing.verdict(on: late, Circumstances(), now: Self.now)) == .pusherGone)
        var unlisted = facts()
        unlisted.gateways = []
        #expect(cause(forcing.verdict(on: late, unlisted, now: Self.now)) == .unknownGateway)
        let unreadable = letter(.unreadable(.tombstone, "the record has no value"))
        #expect(cause(forcing.verdict(on: unreadable, facts(), now: Self.now)) == .stillAtFault)
    }

    @Test func `replayed as often as allowed it is parked, but not from the parking topic`() {
        let rules = ReplayRules(maximumReplays: 2)
        let letter = letter(notification(), replays: 2)
        #expect(judge(.dispatch, rules).verdict(on: letter, facts(), now: Self.now) == .park)
        #expect(
            judge(.parking, rules).verdict(on: letter, facts(), now: Self.now) == .replay(isForced: false)
        )
        let once = self.letter(notification(), replays: 1)
        #expect(judge(.dispatch, rules).verdict(on: once, facts(), now: Self.now) == .replay(isForced: false))
        let all = judge(.dispatch, ReplayRules(.park)).verdict(on: once, Circumstances(), now: Self.now)
        #expect(all == .park)
    }

    @Test func `a rate spreads letters and is not caught up with`() {
        let start = ContinuousClock.now
        var pace = RatePace(rate: 100, from: start)
        #expect(pace.due(50, at: start) == start)
        #expect(pace.due(10, at: start) == start + .milliseconds(500))
        let late = start + .seconds(10)
        #expect(pace.due(100, at: late) == late)
        #expect(pace.due(1, at: late) == late + .seconds(1))
    }

    @Test func `short pushkeys are masked whole, long ones but for their beginning`() {
        #expect(Letter.mask(Array("short".utf8)) == "…(5)")
        #expect(Letter.mask(Array("abcdefghijklmnopqrst".utf8)) == "abcd…(20)")
    }
}
