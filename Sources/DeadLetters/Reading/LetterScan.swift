package import Kafka
package import Push

/// Reads the letters of one topic: all between bounds, or the newest.
///
/// ```swift
/// try scan.begin(bounds)
/// while let letters = try scan.next(now: now) { … }
/// ```
package struct LetterScan: ~Copyable {
    package let source: LetterSource
    private var scanner: Scanner
    private var reader: LetterReader

    /// Records that are read at once.
    package static let batch = 2000
    /// Offsets that are read at once from a partition's end backwards.
    static let window: Int64 = 5000

    package init(
        _ source: LetterSource,
        _ configuration: Kafka.Configuration,
        _ pseudonyms: consuming Pseudonyms
    ) throws(DeadLettersError) {
        self.source = source
        let scanner = try Scanner(configuration, group: "posthorn-dead-letters")
        self.scanner = scanner
        reader = LetterReader(source, pseudonyms)
    }

    /// Starts to read between `bounds`, whatever was read before.
    package mutating func begin(_ bounds: TopicBounds) throws(DeadLettersError) {
        try scanner.begin(bounds)
    }

    /// The next letters, each partition in order; nil once all were handed out.
    package mutating func next(now: Timestamp) throws(DeadLettersError) -> [Letter]? {
        let records = try scanner.next(limit: Self.batch)
        if records.isEmpty { return nil }
        var letters: [Letter] = []
        letters.reserveCapacity(records.count)
        for record in records { letters.append(try reader.read(record, now: now)) }
        return letters
    }

    /// The newest letters that are chosen, the one that failed last first.
    ///
    /// A partition's newest are those that were written last; it is read from its end backwards, and no further than needed.
    package mutating func newest(
        _ limit: Int,
        in bounds: TopicBounds,
        _ choice: LetterChoice,
        now: Timestamp
    ) throws(DeadLettersError) -> [Letter] {
        var newest: [Letter] = []
        for partition in bounds.partitions {
            guard let range = bounds.ranges[partition] else { continue }
            var found: [Letter] = []
            var end = range.upperBound
            while end > range.lowerBound, found.count < limit {
                let start = max(range.lowerBound, end - Self.window)
                try begin(TopicBounds(topic: bounds.topic, ranges: [partition: start..<end]))
                var part: [Letter] = []
                while let letters = try next(now: now) { part += letters.filter { choice.takes($0.facts) } }
                found = part + found
                end = start
            }
            newest += found.suffix(limit)
        }
        newest.sort { one, other in
            (one.facts.failedAt, one.facts.offset) > (other.facts.failedAt, other.facts.offset)
        }
        return Array(newest.prefix(limit))
    }
}
