internal import Glibc
internal import Synchronization

/// Work on a thread of its own, since what blocks does not belong in the test runner's pool.
package final class Background<Value: Sendable>: Sendable {
    private let outcome = Mutex<Value?>(nil)

    package init(_ body: @escaping @Sendable () -> Value) {
        let job = Job { [self] in
            let value = body()
            outcome.withLock { $0 = value }
        }
        var thread = pthread_t()
        let opaque = unsafe Unmanaged.passRetained(job).toOpaque()
        unsafe pthread_create(
            &thread,
            nil,
            { opaque in
                guard let opaque = unsafe opaque else { return nil }
                unsafe Unmanaged<Job>.fromOpaque(opaque).takeRetainedValue().run()
                return nil
            },
            opaque
        )
        pthread_detach(thread)
    }

    /// Waits for the end of the work.
    package func value() throws -> Value {
        var found: Value?
        try eventually("the background work ends") {
            found = outcome.withLock { $0 }
            return found != nil
        }
        guard let found else { throw NoValue() }
        return found
    }
}

private struct NoValue: Error {}

private final class Job: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
