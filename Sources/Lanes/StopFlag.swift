internal import Synchronization

/// Tells the lanes of a process to finish what they hold and to end; raised once, never lowered.
///
/// Cheap to ask on every turn, and a descriptor for those who wait: poll(2) it together with whatever else a lane waits for.
package final class StopFlag: Sendable {
    private let raised = Atomic(false)
    private let event: Event

    package init() throws(LaneError) {
        event = try Event()
    }

    package var isRaised: Bool { raised.load(ordering: .acquiring) }

    /// Readable from the moment the flag is raised; never to be read from.
    package var descriptor: Int32 { event.descriptor }

    package func raise() {
        if !raised.exchange(true, ordering: .acquiringAndReleasing) { event.signal() }
    }

    /// Sleeps, but no longer than until the flag is raised; true when it is.
    package func wait(for duration: Duration) -> Bool {
        isRaised || event.wait(until: Monotonic.deadline(after: duration))
    }
}
