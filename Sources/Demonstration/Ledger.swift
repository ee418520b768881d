internal import Synchronization

/// What is owed to whom, and what has come: the demonstration's books, kept apart from what the workers count.
///
/// An event's number leads to the devices that it is owed to and to those that have opened it, as bits. Written by the event source and by
/// the devices, read by whoever watches.
package final class Ledger: Sendable {
    /// The books at one moment.
    package struct Balance: Sendable, Equatable {
        package var published = 0
        /// One for each event and device that is to be told of it.
        package var owed = 0
        /// Of those, opened with the right content at the right device.
        package var opened = 0
        /// Opened at a device that had opened the same event before.
        package var duplicates = 0
        /// What came and was not owed: at the wrong device, or with other content.
        package var strays = 0
        /// What came and did not open.
        package var unopened = 0
        /// Milliseconds from trigger to opened of the last thousand; nil before there is one.
        package var recent: Latencies.Percentiles?

        package var underWay: Int { owed - opened }

        package init() {}
    }

    /// How an opened message relates to what was owed.
    enum Entry: Equatable {
        case first
        case duplicate
        case stray
    }

    private struct Books {
        /// When each event was published, in ``Lanes/Monotonic`` nanoseconds, and for whom; by number.
        var publishedAt: [Int64] = []
        var owed: [UInt8] = []
        var opened: [UInt8] = []
        var balance = Balance()
        var latencies = Latencies()
        var lastOpening: Int64 = 0
    }

    private let books = Mutex(Books())

    package init() {}

    /// Notes the next event, in the order of their numbers from 0; before it can arrive anywhere.
    package func publish(owedTo bits: UInt8, at time: Int64) {
        books.withLock { books in
            books.publishedAt.append(time)
            books.owed.append(bits)
            books.opened.append(0)
            books.balance.published += 1
            books.balance.owed += bits.nonzeroBitCount
        }
    }

    /// Notes that the user's device of that bit has opened the event.
    @discardableResult
    func open(_ event: Int, bit: UInt8, at time: Int64) -> Entry {
        books.withLock { books in
            guard books.owed.indices.contains(event), books.owed[event] & bit != 0 else {
                books.balance.strays += 1
                return .stray
            }
            guard books.opened[event] & bit == 0 else {
                books.balance.duplicates += 1
                return .duplicate
            }
            books.opened[event] |= bit
            books.balance.opened += 1
            books.latencies.add(time - books.publishedAt[event])
            books.lastOpening = max(books.lastOpening, time)
            return .first
        }
    }

    /// Notes something that came and was not owed.
    func noteStray() { books.withLock { $0.balance.strays += 1 } }

    /// Notes something that came and did not open.
    func noteUnopened() { books.withLock { $0.balance.unopened += 1 } }

    /// Notifications that have not been opened yet.
    package var underWay: Int { books.withLock { $0.balance.underWay } }

    var publishedCount: Int { books.withLock { $0.balance.published } }

    package func balance() -> Balance {
        books.withLock { books in
            var balance = books.balance
            balance.recent = books.latencies.percentiles(last: 1000)
            return balance
        }
    }

    /// From the first event to the last opening; zero before there is one.
    package var duration: Duration {
        books.withLock { books in
            guard let first = books.publishedAt.first, books.lastOpening > first else { return .zero }
            return .nanoseconds(books.lastOpening - first)
        }
    }

    /// Over all that was opened; nil if nothing was.
    package var percentiles: Latencies.Percentiles? { books.withLock { $0.latencies.percentiles() } }
}

/// Times from trigger to opened, each one kept, so that percentiles are exact.
package struct Latencies: Sendable {
    package struct Percentiles: Sendable, Equatable {
        /// Milliseconds.
        package let p50: Double
        package let p99: Double

        package init(p50: Double, p99: Double) {
            self.p50 = p50
            self.p99 = p99
        }
    }

    /// Microseconds, in the order of opening; an hour and more counts as an hour.
    private var values: [UInt32] = []

    mutating func add(_ nanoseconds: Int64) {
        values.append(UInt32(min(max(nanoseconds / 1000, 0), 3_600_000_000)))
    }

    /// Of the last `count`, or of all; by the nearest rank: the smallest value that so many are not above.
    func percentiles(last count: Int = .max) -> Percentiles? {
        let sorted = values.suffix(count).sorted()
        guard !sorted.isEmpty else { return nil }
        func milliseconds(_ percent: Int) -> Double {
            let rank = (sorted.count * percent + 99) / 100
            return Double(sorted[max(rank, 1) - 1]) / 1000
        }
        return Percentiles(p50: milliseconds(50), p99: milliseconds(99))
    }
}
