internal import Synchronization

/// How values are spread, in fixed buckets; shared by lanes without a lock.
///
/// An observation is counted in one bucket, and added up only when read, so that observing costs one atomic addition, and one more for the sum.
/// A scrape in the middle of observations may see a sum that is a few behind the count; both are right a moment later.
package final class Histogram: Sendable {
    /// Upper bounds of the buckets, ascending; above the last one is a bucket without bound.
    private let bounds: [Double]
    private let buckets: [Bucket]
    private let sum = Atomic<UInt64>(0)
    private let sumHead: [UInt8]
    private let countHead: [UInt8]

    private final class Bucket: Sendable {
        let count = Atomic<UInt64>(0)
        let head: [UInt8]

        init(head: [UInt8]) {
            self.head = head
        }
    }

    init(name: String, labels: Labels, bounds: [Double]) {
        precondition(
            !bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 },
            "bounds must ascend"
        )
        self.bounds = bounds
        buckets = (bounds + [.infinity]).map { bound in
            var text: [UInt8] = []
            text.appendNumber(bound)
            let le = (name: "le", value: String(decoding: text, as: UTF8.self))
            return Bucket(head: labels.adding(le).head(of: "\(name)_bucket"))
        }
        sumHead = labels.head(of: "\(name)_sum")
        countHead = labels.head(of: "\(name)_count")
    }

    package func observe(_ value: Double) {
        var low = 0
        var high = bounds.count
        while low < high {
            let middle = (low + high) / 2
            if value <= bounds[middle] { high = middle } else { low = middle + 1 }
        }
        buckets[low].count.wrappingAdd(1, ordering: .relaxed)
        sum.add(value)
    }

    /// Observes a duration in seconds.
    package func observe(_ duration: Duration) {
        observe(duration / .seconds(1))
    }

    package var count: UInt64 {
        buckets.reduce(0) { $0 &+ $1.count.load(ordering: .relaxed) }
    }

    package var total: Double { Double(bitPattern: sum.load(ordering: .relaxed)) }

    func render(into text: inout [UInt8]) {
        var running: UInt64 = 0
        for bucket in buckets {
            running &+= bucket.count.load(ordering: .relaxed)
            text.appendSample(bucket.head, running)
        }
        text += sumHead
        text.appendNumber(total)
        text.append(UInt8(ascii: "\n"))
        text.appendSample(countHead, running)
    }
}

/// Bounds of buckets that serve many histograms.
package enum Buckets {
    /// From 1 ms to one minute, for what a person or a network waits for.
    package static let seconds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]
    /// From 1 second to one day, for the age of an event.
    package static let ages: [Double] = [
        0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 43_200, 86_400,
    ]
    /// From 1 to 10,000, for the size of a batch.
    package static let counts: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]
}

extension [UInt8] {
    fileprivate mutating func appendSample(_ head: [UInt8], _ count: UInt64) {
        self += head
        self += String(count).utf8
        append(UInt8(ascii: "\n"))
    }
}
