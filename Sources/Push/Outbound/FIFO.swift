/// A first-in, first-out queue over one array; both ends cost O(1) over time, and an emptied queue keeps its storage.
struct FIFO<Element: Sendable>: Sendable {
    private var storage: [Element] = []
    private var head = 0

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }

    mutating func append(_ element: Element) {
        storage.append(element)
    }

    mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage[head]
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: storage.count <= 4096)
            head = 0
        } else if head >= 64, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Everything in order, leaving the queue empty.
    mutating func takeAll() -> [Element] {
        defer {
            storage = []
            head = 0
        }
        return Array(storage[head...])
    }
}
