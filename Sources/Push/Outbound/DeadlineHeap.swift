/// Things that come due, the earliest first; those due at the same moment in no particular order.
///
/// A binary heap: adding and taking cost O(log n). Nothing is ever removed from the middle; whoever takes an element checks whether it
/// still means anything.
struct DeadlineHeap<Element: Sendable>: Sendable {
    private var storage: [(due: Duration, element: Element)] = []

    var isEmpty: Bool { storage.isEmpty }
    var count: Int { storage.count }

    /// When the earliest element comes due.
    var earliest: Duration? { storage.first?.due }

    mutating func insert(_ element: Element, due: Duration) {
        storage.append((due, element))
        var child = storage.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard storage[child].due < storage[parent].due else { return }
            storage.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the earliest element if it is due at `now`.
    mutating func popDue(at now: Duration) -> (due: Duration, element: Element)? {
        guard let first = storage.first, first.due <= now else { return nil }
        let last = storage.removeLast()
        if !storage.isEmpty {
            storage[0] = last
            sink()
        }
        return first
    }

    mutating func removeAll() {
        storage.removeAll()
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var smallest = 2 * parent + 1
            guard smallest < storage.count else { return }
            if smallest + 1 < storage.count, storage[smallest + 1].due < storage[smallest].due {
                smallest += 1
            }
            guard storage[smallest].due < storage[parent].due else { return }
            storage.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
