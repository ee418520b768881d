/// Finds out which result belongs to which item: by id, never by position.
///
/// The receiver may answer in any order, twice, in part, or about something else. Answers in the order of the request, the usual case, are
/// matched without hashing.
struct AnswerMatcher: Sendable {
    /// One per item of the batch, in its order; always filled.
    private(set) var outcomes: [Outcome] = []
    private(set) var unknown = 0
    private(set) var missing = 0
    private(set) var contradictory = 0

    private var found: [Outcome?] = []
    private var places: [NotificationID: Int] = [:]

    /// Reads the answer to a batch; the results are there until the next one is read.
    mutating func read(_ answers: [ItemAnswer], about items: [BatchState.Item]) {
        (unknown, missing, contradictory) = (0, 0, 0)
        found.removeAll(keepingCapacity: true)
        found.append(contentsOf: repeatElement(nil, count: items.count))
        places.removeAll(keepingCapacity: true)
        var expected = 0
        for answer in answers {
            if expected < items.count, items[expected].id == answer.id {
                note(answer.outcome, at: expected)
                expected += 1
            } else if let place = place(of: answer.id, in: items) {
                note(answer.outcome, at: place)
                expected = place + 1
            } else {
                unknown += 1
            }
        }
        conclude()
    }

    private mutating func place(of id: NotificationID, in items: [BatchState.Item]) -> Int? {
        if places.isEmpty {
            for (place, item) in items.enumerated() { places[item.id] = place }
        }
        return places[id]
    }

    private mutating func note(_ outcome: Outcome, at place: Int) {
        guard let earlier = found[place] else {
            found[place] = outcome
            return
        }
        guard earlier != outcome, earlier != .transient(.contradictoryResult) else { return }
        contradictory += 1
        found[place] = .transient(.contradictoryResult)
    }

    private mutating func conclude() {
        outcomes.removeAll(keepingCapacity: true)
        for outcome in found {
            if outcome == nil { missing += 1 }
            outcomes.append(outcome ?? .transient(.missingResult))
        }
    }
}
