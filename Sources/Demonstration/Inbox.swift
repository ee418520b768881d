internal import Lanes
internal import Simulation
internal import Synchronization

/// What the gateway has taken for its devices and no device has looked at yet.
///
/// Between the gateway's server thread, which never waits, and the devices' thread. When it is full the gateway answers 503, as one does whose
/// push provider is slow, and the dispatch lane tries again later with the same ids.
final class Inbox: Sendable {
    /// Items; more than the event source lets be under way, so that only repeats can fill it.
    static let limit = 10_000

    private let items = Mutex<[ReceivedItem]>([])
    private let wakeup: Wakeup

    init() throws(LaneError) {
        wakeup = try Wakeup()
    }

    var isFull: Bool { items.withLock { $0.count >= Self.limit } }

    func add(_ more: [ReceivedItem]) {
        items.withLock { $0 += more }
        wakeup.signal()
    }

    /// Waits up to `limit` for something, and takes all there is.
    func take(waiting limit: Duration) -> [ReceivedItem] {
        _ = Readiness.wait(for: wakeup.descriptor, until: Monotonic.deadline(after: limit))
        wakeup.clear()
        return items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}
