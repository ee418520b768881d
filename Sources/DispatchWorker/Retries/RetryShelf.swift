internal import Kafka
internal import Push

/// Records of the retry topics that have been read and wait for their time, in the order of their partitions.
///
/// A partition of which something waits is paused, so that no more is held of it than one poll brings; all others go on. Records are taken
/// from the head of a partition only: an offset may not be committed before those in front of it. How long the head can hold up
/// those behind it is bounded by the spread of the delays, since all in one topic wait for the same time.
struct RetryShelf {
    struct Entry {
        let record: Record
        /// Not to be tried before.
        let due: Timestamp
    }

    private struct Line {
        var entries: [Entry] = []
        var head = 0
    }

    private var lines: [TopicPartition: Line] = [:]
    private(set) var count = 0
    /// Memory that they take, roughly.
    private(set) var bytes = 0
    /// No head of a partition is due before.
    private var earliest = Timestamp(milliseconds: .max)

    /// The partitions of which something waits.
    var places: Set<TopicPartition> { Set(lines.keys) }

    mutating func add(_ record: Record, due: Timestamp) {
        lines[record.place, default: Line()].entries.append(Entry(record: record, due: due))
        earliest = min(earliest, due)
        count += 1
        bytes += Outgoing.footprint(of: record)
    }

    /// The record at `position` behind the head of a partition.
    func entry(_ place: TopicPartition, at position: Int) -> Entry? {
        guard let line = lines[place], line.head + position < line.entries.count else { return nil }
        return line.entries[line.head + position]
    }

    mutating func removeFirst(_ number: Int, of place: TopicPartition) {
        guard number > 0, var line = lines[place] else { return }
        let end = line.head + min(number, line.entries.count - line.head)
        for index in line.head..<end { bytes -= Outgoing.footprint(of: line.entries[index].record) }
        count -= end - line.head
        line.head = end
        lines[place] = end == line.entries.count ? nil : line
    }

    /// Whether something may be due; looks closely only when the time of the earliest head has come.
    mutating func isDue(_ now: Timestamp) -> Bool {
        guard earliest <= now else { return false }
        earliest = heads.min() ?? Timestamp(milliseconds: .max)
        return earliest <= now
    }

    private var heads: some Sequence<Timestamp> {
        lines.values.lazy.compactMap { $0.head < $0.entries.count ? $0.entries[$0.head].due : nil }
    }

    /// Forgets what waits of partitions that are no longer this lane's; whoever reads them next finds it there.
    mutating func forget(allBut kept: [TopicPartition]) {
        for place in places.subtracting(kept) { removeFirst(.max, of: place) }
    }

    mutating func removeAll() {
        lines.removeAll()
        earliest = Timestamp(milliseconds: .max)
        count = 0
        bytes = 0
    }

    /// When the next record comes due of those that are not due yet.
    func nextDue(after now: Timestamp) -> Timestamp? {
        heads.filter { $0 > now }.min()
    }

    /// For how long the longest due record has been due.
    func overdue(_ now: Timestamp) -> Duration {
        heads.min().map { max(now.since($0), .zero) } ?? .zero
    }
}
