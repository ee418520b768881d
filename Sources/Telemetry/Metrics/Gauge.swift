internal import Synchronization

/// A value that goes up and down, such as records in flight; shared by lanes without a lock.
package final class Gauge: Sendable {
    /// A Double as its bits, since those are what an atomic can hold.
    private let bits = Atomic<UInt64>(0)
    private let head: [UInt8]

    init(name: String, labels: Labels) {
        head = labels.head(of: name)
    }

    package func set(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    package func set(_ value: Int) {
        set(Double(value))
    }

    package func add(_ amount: Double) {
        bits.add(amount)
    }

    package func add(_ amount: Int) {
        bits.add(Double(amount))
    }

    package var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func render(into text: inout [UInt8]) {
        text += head
        text.appendNumber(value)
        text.append(UInt8(ascii: "\n"))
    }
}

extension Atomic where Value == UInt64 {
    /// Adds to the Double whose bits are stored; tries again when another thread was first.
    func add(_ amount: Double) {
        var seen = load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: seen) + amount).bitPattern
            let (exchanged, original) = weakCompareExchange(expected: seen, desired: sum, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }
}
