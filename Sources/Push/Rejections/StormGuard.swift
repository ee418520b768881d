/// Decides whether a rejection deletes its pusher: the last look before the most dangerous act of the pipeline.
///
/// A wrong credential, topic or sandbox flag at a gateway makes healthy keys look dead, all at once. Two rules stand against it:
///
/// ```
///   rejected ─▶ holding? ──yes──────────────────────────────────────────────▶ held (storm)
///                 │no
///                 ▼
///        borne out: since it, its own answer included, the gateway took ──yes──▶ removed
///        at least as many messages for the app as it rejected
///                 │not yet ─── alone, and nothing followed in a few seconds ▶ removed
///                 │                                           after a while ▶ held (unproven)
///                 └──▶ waits for other answers
/// ```
///
/// 1. **A rejection has to be borne out.** A dead key among living ones is believed at once: the same answer shows that the gateway works for
///    this app. Where every key looks dead nothing bears anything out, however few there are, and no pusher is deleted. One rejection alone, at a
///    gateway that is hardly used, is believed all the same: a fault would show in the next key too, and a second one is no longer alone.
/// 2. **A jump holds.** When the share of rejections, in one answer or in the last minutes, is far above what is usual for this gateway and
///    app, all rejections are held back until an operator decides or it has been calm again.
///
/// Pure: time is passed in, the state is a ``RejectionGate``, nothing is waited for.
package struct StormGuard: Sendable {
    package let settings: Settings

    package init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    /// Where the lines are drawn.
    package struct Settings: Hashable, Sendable {
        /// In how much time the answers of the last minutes count half.
        package var windowHalfLife: Duration = .seconds(60)
        /// In how much time what is usual here counts half.
        package var historyHalfLife: Duration = .seconds(7 * 86_400)
        /// How long a rejection that is the only one must stay the only one to be believed.
        package var isolation: Duration = .seconds(5)
        /// How long a rejection waits to be borne out.
        package var patience: Duration = .seconds(60)
        /// Fewer rejections are no jump, whatever their share; they still have to be borne out.
        ///
        /// Five, the first of them a little faded.
        package var minimumRejections = 4.5
        /// The share that is a jump where nothing else is known; also within one answer.
        ///
        /// A push service loses about one key in a hundred between two messages to everybody.
        package var share = 0.10
        /// So many answers make known what is usual.
        package var learnedAnswers = 1000.0
        /// Where that is known, so many rejections are enough for the narrower share.
        package var learnedRejections = 20.0
        package var learnedShare = 0.03
        /// How many times the usual share is a jump.
        package var factor = 5.0
        /// More than this is a jump, whatever is usual.
        package var ceiling = 0.5
        /// So many messages taken without a rejection among them end a storm.
        package var calmAnswers: Int64 = 20

        package init() {}
    }

    /// What a storm did.
    package enum Change: Hashable, Sendable {
        case began
        case ended
    }

    // MARK: The share

    /// Takes note of answers, and says whether a storm begins or ends with them.
    package func count(_ answers: GateAnswers, in gate: inout RejectionGate, at now: Timestamp) -> Change? {
        let elapsed = now.since(gate.countedAt)
        gate.window.halve(over: elapsed, halfLife: settings.windowHalfLife)
        gate.history.halve(over: elapsed, halfLife: settings.historyHalfLife)
        gate.countedAt = max(gate.countedAt, now)
        if let accepted = answers.acceptedAt { gate.acceptedAt = max(gate.acceptedAt ?? accepted, accepted) }
        gate.calm = answers.rejected > 0 ? 0 : gate.calm + answers.accepted
        gate.window.accepted += Double(answers.accepted)
        gate.window.rejected += Double(answers.rejected)
        defer { gate.history.accepted += Double(answers.accepted) }
        if gate.isHolding {
            guard gate.calm >= settings.calmAnswers else { return nil }
            gate.holdingSince = nil
            gate.window.rejected = 0
            return .ended
        }
        let isStorm =
            isJump(gate.window, from: gate.history)
            || answers.withRejections.contains { isJump($0, from: gate.history) }
        guard isStorm else {
            gate.history.rejected += Double(answers.rejected)
            return nil
        }
        gate.holdingSince = now
        return .began
    }

    /// Whether a share of rejections is far above the usual one.
    func isJump(_ answers: AnswerShare, from usual: AnswerShare) -> Bool {
        let isKnown = usual.total >= settings.learnedAnswers
        let multiple = isKnown ? settings.factor * usual.dead : 0
        func exceeds(_ share: Double, _ count: Double) -> Bool {
            answers.rejected >= count && answers.dead > min(max(share, multiple), settings.ceiling)
        }
        return exceeds(settings.share, settings.minimumRejections)
            || (isKnown && exceeds(settings.learnedShare, settings.learnedRejections))
    }

    // MARK: One rejection

    /// What becomes of a rejection, after the answers that it came with were counted.
    package func verdict(
        on evidence: RejectionEvidence,
        at gate: RejectionGate,
        now: Timestamp
    ) -> RejectionVerdict {
        if gate.isHolding { return .hold(.storm) }
        if evidence.accepted >= max(evidence.rejected, 1) { return .remove }
        if let held = evidence.heldSince, let accepted = gate.acceptedAt, accepted > held { return .remove }
        let age = now.since(evidence.rejectedAt)
        if isAlone(evidence, at: gate), age >= settings.isolation { return .remove }
        guard age >= settings.patience else { return .wait }
        // The only one, shortly after a message was taken: too little traffic for more, and no sign of a fault.
        if evidence.rejected == 1, let accepted = gate.acceptedAt,
            evidence.rejectedAt.since(accepted) <= settings.patience
        {
            return .remove
        }
        return .hold(.unproven)
    }

    /// Whether it is the only one lately, and no second one of those that nothing speaks for.
    private func isAlone(_ evidence: RejectionEvidence, at gate: RejectionGate) -> Bool {
        evidence.rejected == 1 && gate.window.rejected < 1.5
            && gate.history.rejected < gate.history.accepted + 1.5
    }
}

/// What is known about a rejection besides that it was said.
package struct RejectionEvidence: Hashable, Sendable {
    package var rejectedAt: Timestamp
    /// Messages of the app that the gateway took in the same answer, or that were sent after the rejection and taken.
    package var accepted: Int64
    /// Keys of the app that it rejected since, in the same answer too; this one is one of them.
    package var rejected: Int64
    /// The pusher was rejected before and is held as unproven since; this rejection is of a message sent after that.
    package var heldSince: Timestamp?

    package init(rejectedAt: Timestamp, accepted: Int64, rejected: Int64, heldSince: Timestamp? = nil) {
        self.rejectedAt = rejectedAt
        self.accepted = accepted
        self.rejected = rejected
        self.heldSince = heldSince
    }
}

/// What becomes of a rejection.
package enum RejectionVerdict: Hashable, Sendable {
    /// The pusher and its keys go.
    case remove
    /// Nothing bears it out yet.
    case wait
    /// Kept for an operator.
    case hold(HoldCause)
}

/// Why a rejection is held back.
package enum HoldCause: String, Hashable, Sendable, CaseIterable {
    /// It came with a jump in the share of rejections.
    case storm
    /// Nothing bore it out in time.
    case unproven
}
