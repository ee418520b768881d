internal import Kafka
internal import Push

/// The letters of one transaction, decided and ready to be written.
struct Step {
    /// What holds afterwards.
    private(set) var pending: PendingStep
    private(set) var records: [ReplayedRecord] = []

    private let source: LetterSource
    private let id: String
    private let rules: ReplayRules
    private let replayedBefore: Int

    /// What a record may have: the broker counts a batch's framing with it.
    private static let sizeLimit = TopicCatalogue.batchLimit - 1024

    /// A step of `replay`, as far as that is when the step begins.
    init(_ replay: StoredReplay, _ source: LetterSource) {
        pending = PendingStep(tally: replay.tally)
        self.source = source
        id = replay.id.description
        rules = replay.rules
        replayedBefore = replay.tally.replayed
    }

    /// Letters of this step that are sent again.
    var sent: Int { pending.tally.replayed - replayedBefore }

    /// Letters of this step that are decided, whichever way.
    private(set) var decided = 0

    /// A letter that is not meant, or is dealt with already: only the place moves on.
    mutating func pass(_ letter: DeadLetterFacts) {
        pending.next[letter.partition] = letter.offset + 1
    }

    mutating func add(_ letter: Letter, _ verdict: Verdict, now: Timestamp) {
        pass(letter.facts)
        decided += 1
        let (verdict, record) = record(of: letter, verdict, now)
        pending.tally.count(verdict, reason: letter.facts.reason)
        if let record { records.append(record) }
        let (partition, offset) = (letter.facts.partition, letter.facts.offset)
        switch verdict {
        case .replay: pending.replayed[partition, default: OffsetRanges()].insert(offset)
        case .park: pending.parked[partition, default: OffsetRanges()].insert(offset)
        case .refuse: break
        }
    }

    private func record(
        of letter: Letter,
        _ verdict: Verdict,
        _ now: Timestamp
    ) -> (Verdict, ReplayedRecord?) {
        let record: ReplayedRecord
        switch verdict {
        case .replay(let isForced):
            record = ReplayedRecord(
                replaying: letter,
                source,
                replay: id,
                forcedUntil: isForced ? now.adding(rules.forcedLifetime) : nil,
                now: now
            )
        case .park:
            guard let parking = source.parking else { return (verdict, nil) }
            record = ReplayedRecord(parking: letter, in: parking)
        case .refuse: return (verdict, nil)
        }
        guard record.size <= Self.sizeLimit else {
            return (.refuse(ReplayRefusal(.tooLarge, "with its headers it has \(record.size) bytes")), nil)
        }
        return (verdict, record)
    }
}

extension ReplayedRecord {
    /// Bytes of key, value and headers.
    var size: Int { (key?.count ?? 0) + (value?.count ?? 0) + headers.byteCount }
}
