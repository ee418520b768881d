internal import Cglibc
internal import Glibc

/// An event that happens once: from then on its descriptor is readable, for all who wait on it and for ever.
///
/// Owns an eventfd; signalling from several threads is safe.
package struct Event: ~Copyable, Sendable {
    /// For poll(2), curl and others; never to be read from, which would take the event away from those who wait.
    package let descriptor: Int32

    /// The corresponding C function is `eventfd`.
    package init() throws(LaneError) {
        descriptor = glibc_eventfd(0)
        if descriptor < 0 { throw LaneError(call: "eventfd", code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// The corresponding C function is `write`.
    package func signal() {
        var one: UInt64 = 1
        // It can only fail when the counter is full, and then it is readable already.
        _ = unsafe withUnsafeBytes(of: &one) { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Waits until it has happened; false when `deadline`, in ``Monotonic`` nanoseconds, came first.
    package func wait(until deadline: Int64) -> Bool {
        Readiness.wait(for: descriptor, until: deadline)
    }
}

/// Waiting for a descriptor.
package enum Readiness {
    /// Waits until the descriptor is readable; false when the deadline came first.
    ///
    /// The corresponding C function is `poll`.
    package static func wait(for descriptor: Int32, until deadline: Int64) -> Bool {
        while true {
            let (left, overflow) = deadline.subtractingReportingOverflow(Monotonic.now())
            // Rounded up, so that the deadline has come when poll says so.
            let milliseconds = overflow ? Int64(Int32.max) : (max(left, 0) + 999_999) / 1_000_000
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&waiting, 1, Int32(clamping: milliseconds))
            if count > 0 { return true }
            if count == 0, Monotonic.now() >= deadline { return false }
        }
    }
}
