internal import Synchronization

/// A count that only grows, such as records received; shared by lanes without a lock.
package final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)
    /// `name{labels} `, rendered once.
    private let head: [UInt8]

    init(name: String, labels: Labels) {
        head = labels.head(of: name)
    }

    package func increment() {
        count.wrappingAdd(1, ordering: .relaxed)
    }

    /// Adds an amount; a negative one counts as nothing, for a counter never goes back.
    package func add(_ amount: Int) {
        count.wrappingAdd(UInt64(clamping: amount), ordering: .relaxed)
    }

    package var value: UInt64 { count.load(ordering: .relaxed) }

    func render(into text: inout [UInt8]) {
        text += head
        text += String(value).utf8
        text.append(UInt8(ascii: "\n"))
    }
}
