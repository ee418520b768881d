internal import JSON
package import Push

/// A replay as the database has it: what it was told, its bounds, and how far it is.
package struct StoredReplay: Sendable, Hashable {
    package enum State: String, Hashable, Sendable {
        /// Somebody works on it, or was killed while doing so.
        case running
        /// Stopped in order, to be gone on with.
        case stopped
        case done
    }

    /// One partition's bounds and place.
    package struct Progress: Sendable, Hashable {
        package var bounds: Range<Int64>
        /// The next letter to look at.
        package var next: Int64
        /// Where the step under way ends, if there is one.
        package var pending: Int64?
    }

    package var id: UUIDBytes
    package var topic: String
    package var `operator`: String
    package var filter: DeadLetterFilter
    package var rules: ReplayRules
    package var state: State
    package var tally: ReplayTally
    package var startedAt: Timestamp
    package var progress: [Int32: Progress]

    /// What is left between the bounds.
    package var remaining: TopicBounds {
        TopicBounds(topic: topic, ranges: progress.mapValues { $0.next..<$0.bounds.upperBound })
    }

    /// The group under which the replay's transactions commit how far it is.
    package var group: String { Self.group(of: id, topic: topic) }

    static func group(of id: UUIDBytes, topic: String) -> String { "\(topic).replay.\(id)" }
}

/// A step of a replay while its transaction is under way: what will hold once Kafka has committed it.
struct PendingStep: Sendable {
    /// By partition, the next letter to look at.
    var next: [Int32: Int64] = [:]
    var replayed: [Int32: OffsetRanges] = [:]
    var parked: [Int32: OffsetRanges] = [:]
    var tally = ReplayTally()

    init(tally: ReplayTally) { self.tally = tally }
}

extension ReplayRules {
    var json: String { Writer.text { write(to: &$0) } }
}

extension ReplayTally {
    var json: String { Writer.text { $0.object { writeMembers(to: &$0) } } }
}
