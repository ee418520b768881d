internal import Cpq
internal import Glibc
internal import Synchronization

/// Cancels what one session is doing, once, from any thread.
///
/// It belongs to the session that was there when it was made: after a reconnect it does nothing useful. The cancelled
/// statement fails with ``PostgresError/Kind/cancelled`` on its own thread; if it had ended before, nothing happens.
///
/// The corresponding C type is `PGcancel`.
package final class Canceller: Sendable {
    /// The address of the `PGcancel`; 0 once used.
    private let handle: Atomic<UInt>

    init?(_ wire: Wire) {
        guard let cancel = unsafe PQgetCancel(wire.connection) else { return nil }
        handle = Atomic(UInt(bitPattern: cancel))
    }

    deinit {
        if let cancel = unsafe OpaquePointer(bitPattern: handle.load(ordering: .acquiring)) {
            unsafe PQfreeCancel(cancel)
        }
    }

    /// Sends the request from a thread of its own and does not wait for it.
    ///
    /// - Returns: false if this was called before or nothing could be sent.
    ///
    /// The corresponding C function is `PQcancel`.
    @discardableResult
    package func cancel() -> Bool {
        let address = handle.exchange(0, ordering: .acquiringAndReleasing)
        guard let cancel = unsafe OpaquePointer(bitPattern: address) else { return false }
        let delivery = unsafe pq_cancel_start(cancel)
        guard delivery >= 0 else { return false }
        close(delivery)
        return true
    }
}

extension Connection {
    /// - Returns: nil without a session.
    package func canceller() -> Canceller? { wire.flatMap { Canceller($0) } }
}
