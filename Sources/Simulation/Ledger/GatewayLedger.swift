package import Push
internal import Synchronization

/// What simulated gateways have received and answered, for who wants to know whether anything was lost or came twice.
///
/// Keeps the last receipts up to its limit, older ones are forgotten; counts go on. Holds ids, never pushkeys or messages. One receipt takes
/// about 300 bytes, so that the default is some 60 MB when it is full. A lock serialises access.
package final class GatewayLedger: Sendable {
    package static let usualLimit = 200_000

    /// One notification, received once.
    package struct Receipt: Sendable, Equatable {
        /// Counts the receipts of all origins, from 1.
        package var number: Int
        package var receivedAt: Timestamp
        package var origin: String
        package var phase: String
        /// Counts the requests to its origin, from 1.
        package var batch: Int
        /// Empty for single notifications, which have none.
        package var id: String
        /// What the answer said of it: `success`, `failed`, `partial`, or `nothing`.
        package var told: String
    }

    package struct OriginCounts: Sendable, Equatable {
        package var requests = 0
        /// Items received, repeats included.
        package var items = 0
        /// Connections that were not served, and requests on those that had been.
        package var turnedAway = 0
        /// By status, or `hang` and `close`.
        package var answers: [String: Int] = [:]

        package init() {}
    }

    package struct Counts: Sendable, Equatable {
        package var origins: [String: OriginCounts] = [:]
        /// Different ids among the receipts that are kept.
        package var ids = 0
        /// Items whose id had been received before, as far as it was still kept.
        package var repeats = 0
        package var kept = 0
        package var forgotten = 0
    }

    private struct State {
        var counts = Counts()
        /// A ring once it is full: receipt n is at (n - 1) modulo the limit.
        var receipts: [Receipt] = []
        var last = 0
        var numbersByID: [String: [Int]] = [:]
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: receipts to keep; at least 1.
    package init(keeping limit: Int = usualLimit) {
        self.limit = max(1, limit)
    }

    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.ids = state.numbersByID.count
            counts.kept = state.receipts.count
            counts.forgotten = state.last - state.receipts.count
            return counts
        }
    }

    /// All receipts of an id that are kept, oldest first.
    package func receipts(of id: String) -> [Receipt] {
        state.withLock { state in
            (state.numbersByID[id] ?? []).map { state.receipts[($0 - 1) % limit] }
        }
    }

    /// The receipts after a number, oldest first.
    package func receipts(after number: Int, limit count: Int) -> [Receipt] {
        state.withLock { state in
            let first = max(number, state.last - state.receipts.count, 0) + 1
            guard first <= state.last, count > 0 else { return [] }
            return (first...min(state.last, first + count - 1)).map { state.receipts[($0 - 1) % limit] }
        }
    }

    /// A request that was answered, or not, in this way.
    func note(_ origin: String, answer: String) {
        state.withLock { state in
            state.counts.origins[origin, default: OriginCounts()].requests += 1
            state.counts.origins[origin, default: OriginCounts()].answers[answer, default: 0] += 1
        }
    }

    func noteTurnedAway(_ origin: String) {
        state.withLock { $0.counts.origins[origin, default: OriginCounts()].turnedAway += 1 }
    }

    /// Items that count as received; their numbers are given here.
    func add(_ receipts: [Receipt]) {
        guard let origin = receipts.first?.origin else { return }
        state.withLock { state in
            state.counts.origins[origin, default: OriginCounts()].items += receipts.count
            for receipt in receipts { add(receipt, &state) }
        }
    }

    private func add(_ receipt: Receipt, _ state: inout State) {
        state.last += 1
        var receipt = receipt
        receipt.number = state.last
        if state.receipts.count < limit {
            state.receipts.append(receipt)
        } else {
            let place = (state.last - 1) % limit
            forget(state.receipts[place], &state)
            state.receipts[place] = receipt
        }
        guard !receipt.id.isEmpty else { return }
        if state.numbersByID[receipt.id] != nil { state.counts.repeats += 1 }
        state.numbersByID[receipt.id, default: []].append(receipt.number)
    }

    /// The oldest receipt is the first of its id.
    private func forget(_ receipt: Receipt, _ state: inout State) {
        guard var numbers = state.numbersByID.removeValue(forKey: receipt.id) else { return }
        numbers.removeFirst()
        if !numbers.isEmpty { state.numbersByID[receipt.id] = numbers }
    }
}
