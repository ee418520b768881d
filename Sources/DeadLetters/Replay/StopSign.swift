internal import Lanes

/// Somebody outside wants a replay to stop after the step under way.
package struct StopSign: Sendable {
    /// Readable from the moment on, and never read from; negative for one that never comes.
    private let descriptor: Int32

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// One that never comes.
    package static let none = StopSign(descriptor: -1)

    var isRaised: Bool { descriptor >= 0 && Readiness.wait(for: descriptor, until: Monotonic.now()) }

    /// Sleeps, but no longer than until it comes; true when it has.
    @discardableResult
    func wait(for duration: Duration) -> Bool {
        Readiness.wait(for: descriptor, until: Monotonic.deadline(after: duration))
    }
}
