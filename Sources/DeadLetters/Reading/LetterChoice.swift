package import Push

/// Which letters of a topic a command is about: what its filter says, and of those the open ones unless it says otherwise.
package struct LetterChoice: Sendable {
    package let filter: DeadLetterFilter
    package let book: LetterBook
    /// Also those that were replayed or parked.
    package let includesDealtWith: Bool
    /// Also those that were given up.
    package let includesPurged: Bool

    package init(
        _ filter: DeadLetterFilter,
        _ book: LetterBook,
        includesDealtWith: Bool = false,
        includesPurged: Bool = false
    ) {
        self.filter = filter
        self.book = book
        self.includesDealtWith = includesDealtWith
        self.includesPurged = includesPurged
    }

    package func takes(_ letter: DeadLetterFacts) -> Bool {
        guard filter.matches(letter) else { return false }
        switch state(of: letter) {
        case nil: return true
        case .replayed, .parked: return includesDealtWith
        case .purged: return includesPurged
        }
    }

    /// What was done with the letter; nil for an open one.
    package func state(of letter: DeadLetterFacts) -> Disposition? {
        book.disposition(partition: letter.partition, offset: letter.offset)
    }
}
