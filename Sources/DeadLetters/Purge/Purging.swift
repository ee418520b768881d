internal import JSON
package import Kafka
package import Postgres
package import Push

/// What a purge did.
package struct PurgeReport: Sendable, Equatable {
    /// Letters that it was about.
    package var matched = 0
    /// Of these, those that Kafka no longer has.
    package var deleted = 0
    /// Why nothing could be deleted, though something could have been; the letters are marked all the same.
    package var refusal: KafkaError?

    /// Of these, those that still lie in the topic and are only marked, until the topic's retention takes them.
    package var marked: Int { matched - deleted }

    package init() {}
}

extension Desk {
    /// Gives letters up for good.
    ///
    /// Kafka can delete the beginning of a partition and nothing else. So where all that a partition begins with is meant (or was purged before)
    /// it is deleted; what lies behind a letter that stays is marked, is listed and replayed no more, and goes with the topic's retention.
    ///
    /// - Parameters:
    ///   - filter: which letters.
    ///   - includesDealtWith: also those that were replayed or parked, of which this is the original.
    ///   - confirmed: what lies behind these bounds stays, whatever the filter says; nil for all that is there.
    ///   - source: the topic.
    ///   - now: stands in for times that records do not have.
    ///   - connection: the database.
    /// - Returns: what became of them.
    /// - Throws: ``DeadLettersError``, and nothing is purged.
    package func purge(
        _ filter: DeadLetterFilter,
        includesDealtWith: Bool,
        within confirmed: TopicBounds? = nil,
        from source: LetterSource,
        now: Timestamp,
        in connection: inout Connection
    ) throws(DeadLettersError) -> PurgeReport {
        try holding(source, for: "purge", in: &connection) {
            (held: Held, connection: inout Connection) throws(DeadLettersError) in
            let bounds = confirmed.map { held.bounds.ending(with: $0) } ?? held.bounds
            var plan = PurgePlan(bounds)
            var scan = try scan(source, in: &connection)
            var renewed = ContinuousClock.now
            let choice = LetterChoice(filter, held.book, includesDealtWith: includesDealtWith)
            try scan.begin(bounds)
            while let letters = try scan.next(now: now) {
                for letter in letters {
                    let isGone = choice.state(of: letter.facts) == .purged
                    plan.add(letter.facts, isMeant: choice.takes(letter.facts), isGone: isGone)
                }
                if ContinuousClock.now - renewed > lease / 4 {
                    try held.lock.insist(in: &connection)
                    renewed = .now
                }
            }
            return try carryOut(plan, filter, held, in: &connection)
        }
    }

    /// Marks first: a process that is killed then has deleted nothing that was not written down.
    private func carryOut(
        _ plan: PurgePlan,
        _ filter: DeadLetterFilter,
        _ held: Held,
        in connection: inout Connection
    ) throws(DeadLettersError) -> PurgeReport {
        var report = PurgeReport()
        report.matched = plan.matched
        guard plan.matched > 0 else { return report }
        let name = self.operator
        try connection.transaction { (connection: inout Connection) throws(DeadLettersError) in
            try held.lock.insist(in: &connection)
            try database { () throws(PostgresError) in
                try LetterBook.add(plan.marks, .purged, topic: held.bounds.topic, to: &connection)
                try AuditBook.add(.purge, by: name, on: held.bounds.topic, filter: filter, to: &connection) {
                    $0.member("matched", plan.matched)
                    $0.member("to_be_deleted", plan.deletable)
                }
            }
        }
        do throws(KafkaError) {
            let admin = try Admin(self.kafka)
            _ = try admin.deleteRecords(before: plan.cuts, timeout: .seconds(60))
            report.deleted = plan.deletable
        } catch {
            report.refusal = error
        }
        return report
    }
}

/// Which letters are marked, and how much of each partition's beginning can be deleted.
struct PurgePlan {
    private struct Partition {
        /// Everything before is meant or gone.
        var end: Int64
        var isUnbroken = true
        /// Meant letters within the beginning.
        var deletable = 0
    }

    private let bounds: TopicBounds
    private var partitions: [Int32: Partition]
    private(set) var marks: [Int32: OffsetRanges] = [:]
    private(set) var matched = 0

    init(_ bounds: TopicBounds) {
        self.bounds = bounds
        partitions = bounds.ranges.mapValues { Partition(end: $0.lowerBound) }
    }

    /// Takes the next letter of its partition.
    mutating func add(_ letter: DeadLetterFacts, isMeant: Bool, isGone: Bool) {
        if isMeant {
            matched += 1
            marks[letter.partition, default: OffsetRanges()].insert(letter.offset)
        }
        guard var partition = partitions[letter.partition], partition.isUnbroken else { return }
        if isMeant || isGone {
            partition.end = letter.offset + 1
            if isMeant { partition.deletable += 1 }
        } else {
            partition.isUnbroken = false
        }
        partitions[letter.partition] = partition
    }

    /// Letters that are deleted if the broker does as it is told.
    var deletable: Int { partitions.values.reduce(0) { $0 + $1.deletable } }

    /// Where each partition is cut; only those of which something goes.
    var cuts: [TopicPartitionOffset] {
        partitions.filter { $0.value.deletable > 0 }.sorted { $0.key < $1.key }
            .map { TopicPartitionOffset(bounds.topic, $0.key, offset: $0.value.end) }
    }
}
