/// Which dead letters are meant: what is asked for holds together, and what is not asked for does not matter.
///
/// Of several values of one field any one does. A letter of which a field is not known matches no filter that asks for it.
package struct DeadLetterFilter: Hashable, Sendable {
    package var reasons: Set<DeadLetterReason> = []
    /// Origins.
    package var gateways: Set<String> = []
    package var apps: Set<String> = []
    package var channels: Set<String> = []
    /// Digests, so that nobody is named where a filter is stored.
    package var users: Set<String> = []
    /// CloudEvents ids.
    package var events: Set<String> = []
    /// Failed last at this moment or later.
    package var since: Timestamp?
    /// Failed last before this moment.
    package var until: Timestamp?
    package var attempts: ClosedRange<Int>?
    package var partition: Int32?
    /// Only of use together with ``partition``, but allowed without.
    package var offsets: ClosedRange<Int64>?
    /// Brought back by this replay.
    package var replay: String?

    package init() {}

    /// Whether nothing at all is asked for.
    package var isEmpty: Bool { self == DeadLetterFilter() }

    package func matches(_ letter: DeadLetterFacts) -> Bool {
        Self.holds(reasons, letter.reason) && Self.holds(gateways, letter.gateway)
            && Self.holds(apps, letter.app) && Self.holds(channels, letter.channel)
            && Self.holds(users, letter.user) && Self.holds(events, letter.event)
            && (since.map { letter.failedAt >= $0 } ?? true)
            && (until.map { letter.failedAt < $0 } ?? true)
            && (attempts?.contains(letter.history.attempts) ?? true)
            && (partition.map { $0 == letter.partition } ?? true)
            && (offsets?.contains(letter.offset) ?? true)
            && (replay.map { $0 == letter.history.replayID } ?? true)
    }

    /// The part of a partition's range that can match at all, so that the rest need not be read; nil if nothing can.
    package func narrow(_ range: Range<Int64>, partition: Int32) -> Range<Int64>? {
        if let wanted = self.partition, wanted != partition { return nil }
        guard let offsets else { return range.isEmpty ? nil : range }
        let end = offsets.upperBound == .max ? Int64.max : offsets.upperBound + 1
        let narrowed = range.clamped(to: offsets.lowerBound..<end)
        return narrowed.isEmpty ? nil : narrowed
    }

    private static func holds<Value>(_ wanted: Set<Value>, _ value: Value?) -> Bool {
        wanted.isEmpty || value.map { wanted.contains($0) } ?? false
    }
}
