import Testing

@testable import Push

/// The guard alone: answers in, verdicts out, time as a number.
@Suite struct `The storm guard` {
    /// A gate with the guard, fed answer by answer as lanes do.
    private struct Rig {
        let stormGuard = StormGuard()
        var gate: RejectionGate
        var now = Timestamp(milliseconds: 1_800_000_000_000)
        var changes: [StormGuard.Change] = []

        init() { gate = RejectionGate(countedAt: now) }

        mutating func wait(_ duration: Duration) { now = now.adding(duration) }

        /// One answer; the verdict on each rejection in it.
        @discardableResult
        mutating func answer(accepted: Int64, rejected: Int64 = 0) -> RejectionVerdict {
            let share = AnswerShare(accepted: Double(accepted), rejected: Double(rejected))
            let answers = GateAnswers(
                accepted: accepted,
                rejected: rejected,
                withRejections: rejected > 0 ? [share] : [],
                acceptedAt: accepted > 0 ? now : nil
            )
            if let change = stormGuard.count(answers, in: &gate, at: now) { changes.append(change) }
            return verdict(accepted: accepted, rejected: rejected, since: .zero)
        }

        func verdict(accepted: Int64, rejected: Int64, since: Duration) -> RejectionVerdict {
            let evidence = RejectionEvidence(
                rejectedAt: now.adding(.zero - since),
                accepted: accepted,
                rejected: rejected
            )
            return stormGuard.verdict(on: evidence, at: gate, now: now)
        }
    }

    @Test(arguments: [(99, 1), (1, 1), (10, 2), (9, 1), (90, 10)])
    func `a dead key among living ones is believed at once, also with nothing known before`(
        accepted: Int64,
        rejected: Int64
    ) {
        var rig = Rig()
        #expect(rig.answer(accepted: accepted, rejected: rejected) == .remove)
        #expect(rig.changes.isEmpty)
    }

    @Test func `the very first answer, with 100 rejections, is held as a whole`() {
        var rig = Rig()
        #expect(rig.answer(accepted: 0, rejected: 100) == .hold(.storm))
        #expect(rig.changes == [.began])
    }

    @Test
    func `A18: 1000 tokens that are all rejected within a minute, of which 900 worked yesterday, are held`() {
        var rig = Rig()
        for _ in 0..<9 { rig.answer(accepted: 100) }
        rig.wait(.seconds(86_400))
        for _ in 0..<10 {
            #expect(rig.answer(accepted: 0, rejected: 100) == .hold(.storm))
            rig.wait(.seconds(6))
        }
        #expect(rig.changes == [.began])
    }

    @Test func `A18: the same one by one: each waits until the fifth shows the jump, and none is believed`() {
        var rig = Rig()
        for _ in 0..<9 { rig.answer(accepted: 100) }
        rig.wait(.seconds(86_400))
        var verdicts: [RejectionVerdict] = []
        for _ in 0..<1000 {
            verdicts.append(rig.answer(accepted: 0, rejected: 1))
            rig.wait(.milliseconds(60))
        }
        #expect(verdicts.prefix(4).allSatisfy { $0 == .wait })
        #expect(verdicts.dropFirst(4).allSatisfy { $0 == .hold(.storm) })
        // What waited is judged again with the next answers, and is held with the others.
        #expect(rig.verdict(accepted: 0, rejected: 1000, since: .seconds(59)) == .hold(.storm))
    }

    @Test
    func `a wrong credential at a gateway with ten pushers, asked for one by one, costs the first at most`() {
        var rig = Rig()
        for number in 0..<10 {
            rig.wait(.seconds(600))
            #expect(rig.answer(accepted: 0, rejected: 1) == .wait)
            rig.wait(.seconds(61))
            rig.answer(accepted: 0)
            let verdict = rig.verdict(accepted: 0, rejected: 1, since: .seconds(61))
            #expect(verdict == (number == 0 ? .remove : .hold(.unproven)))
        }
    }

    @Test func `a single dead key, where nothing else is sent, is believed when no other follows in seconds`()
    {
        var rig = Rig()
        #expect(rig.answer(accepted: 0, rejected: 1) == .wait)
        rig.wait(.seconds(4))
        #expect(rig.verdict(accepted: 0, rejected: 1, since: .seconds(4)) == .wait)
        rig.wait(.seconds(1))
        #expect(rig.verdict(accepted: 0, rejected: 1, since: .seconds(5)) == .remove)
        // A second one, and neither is alone.
        #expect(rig.answer(accepted: 0, rejected: 1) == .wait)
        #expect(rig.verdict(accepted: 0, rejected: 2, since: .seconds(5)) == .wait)
        rig.wait(.seconds(5))
        #expect(rig.verdict(accepted: 0, rejected: 1, since: .seconds(5)) == .wait)
    }

    @Test func `a dead key that is asked about alone is believed once others were taken after it`() {
        var rig = Rig()
        #expect(rig.answer(accepted: 0, rejected: 1) == .wait)
        rig.wait(.seconds(2))
        rig.answer(accepted: 1)
        #expect(rig.verdict(accepted: 1, rejected: 1, since: .seconds(2)) == .remove)
        #expect(rig.verdict(accepted: 1, rejected: 2, since: .seconds(2)) == .wait)
    }

    @Test func `two rejections in a minute, each alone after a message that was taken, are believed in time`()
    {
        var rig = Rig()
        rig.answer(accepted: 2)
        rig.answer(accepted: 0, rejected: 1)
        rig.wait(.seconds(5))
        #expect(rig.answer(accepted: 0, rejected: 1) == .wait)
        rig.wait(.seconds(5))
        #expect(rig.verdict(accepted: 0, rejected: 1, since: .seconds(5)) == .wait)
        rig.wait(.seconds(55))
        #expect(rig.verdict(accepted: 0, rejected: 1, since: .seconds(60)) == .remove)
        #expect(rig.verdict(accepted: 0, rejected: 2, since: .seconds(60)) == .hold(.unproven))
    }

    @Test func `a pusher that is rejected again, with messages taken between, is believed`() {
        var rig = Rig()
        rig.answer(accepted: 0, rejected: 1)
        let held = rig.now
        rig.wait(.seconds(3600))
        rig.answer(accepted: 1)
        rig.wait(.seconds(3600))
        rig.answer(accepted: 0, rejected: 1)
        var evidence = RejectionEvidence(rejectedAt: rig.now, accepted: 0, rejected: 1, heldSince: held)
        #expect(rig.stormGuard.verdict(on: evidence, at: rig.gate, now: rig.now) == .remove)
        evidence.heldSince = rig.now
        #expect(rig.stormGuard.verdict(on: evidence, at: rig.gate, now: rig.now) == .wait)
    }

    @Test func `in the midst of traffic one answer full of rejections is a jump, whatever was taken before`()
    {
        var rig = Rig()
        for _ in 0..<1000 { rig.answer(accepted: 99, rejected: 1) }
        #expect(rig.changes.isEmpty)
        #expect(rig.answer(accepted: 0, rejected: 100) == .hold(.storm))
        #expect(rig.changes == [.began])
    }

    @Test func `where one in a hundred is usual a tenth is a jump, though spread thinly`() {
        var rig = Rig()
        rig.gate.history = AnswerShare(accepted: 990_000, rejected: 10_000)
        for _ in 0..<200 {
            #expect(rig.answer(accepted: 99, rejected: 1) == .remove)
            rig.wait(.seconds(1))
        }
        var held = 0
        for _ in 0..<200 {
            if rig.answer(accepted: 91, rejected: 9) == .hold(.storm) { held += 1 }
            rig.wait(.seconds(1))
        }
        #expect(held > 100)
    }

    @Test func `what is usual for a gateway is no jump there`() {
        var rig = Rig()
        rig.gate.history = AnswerShare(accepted: 96_000, rejected: 4000)
        for _ in 0..<100 {
            #expect(rig.answer(accepted: 85, rejected: 15) == .remove)
            rig.wait(.seconds(1))
        }
        #expect(rig.changes.isEmpty)
    }

    @Test func `a storm ends after twenty messages taken in a row, and its rejections are not what is usual`()
    {
        var rig = Rig()
        rig.answer(accepted: 0, rejected: 100)
        for _ in 0..<19 {
            rig.answer(accepted: 1)
            #expect(rig.gate.isHolding)
        }
        rig.answer(accepted: 0, rejected: 1)
        for _ in 0..<20 { rig.answer(accepted: 1) }
        #expect(rig.changes == [.began, .ended])
        #expect(rig.gate.history.rejected == 0)
        #expect(rig.answer(accepted: 10, rejected: 1) == .remove)
    }

    @Test
    func
        `after an operator has applied what was held, a like share passes; after a discard it is held again`()
    {
        var rig = Rig()
        rig.answer(accepted: 850, rejected: 150)
        #expect(rig.gate.isHolding)
        var applied = rig
        applied.gate.relearn(believed: 150)
        applied.answer(accepted: 85, rejected: 15)
        #expect(!applied.gate.isHolding)
        rig.gate.relearn(believed: 0)
        #expect(!rig.gate.isHolding)
        #expect(rig.answer(accepted: 850, rejected: 150) == .hold(.storm))
    }

    @Test func `old answers fade, and a clock that goes back changes nothing`() {
        var share = AnswerShare(accepted: 100, rejected: 10)
        share.halve(over: .seconds(60), halfLife: .seconds(60))
        #expect(share == AnswerShare(accepted: 50, rejected: 5))
        share.halve(over: .seconds(-5), halfLife: .seconds(60))
        #expect(share == AnswerShare(accepted: 50, rejected: 5))
        share.halve(over: .seconds(30), halfLife: .seconds(60))
        #expect(share.accepted == 37.5)
        share.halve(over: .seconds(1_000_000_000), halfLife: .seconds(60))
        #expect(share == AnswerShare())
    }

    @Test func `G3: with two confirmations the first rejection and one of the same time are not enough`() {
        let two = Confirmations(2)
        let start = Timestamp(milliseconds: 1000)
        #expect(two.count(nil, sent: start) == 1)
        #expect(!two.isConfirmed(1))
        let earlier = Confirmations.Earlier(rejections: 1, rejectedAt: start)
        #expect(two.count(earlier, sent: start.adding(milliseconds: -1)) == 1)
        #expect(two.count(earlier, sent: start.adding(milliseconds: 1)) == 2)
        #expect(two.isConfirmed(2))
        #expect(two.successesToForget == 2)
        #expect(Confirmations(1).isConfirmed(Confirmations(1).count(nil, sent: start)))
        #expect(Confirmations(1).successesToForget == 1)
        #expect(Confirmations(0).needed == 1)
    }
}
