internal import Cglibc
internal import Glibc

/// Wakes one lane that waits in poll(2), again and again; the lane takes the signal away before it looks for what has happened.
///
/// Owns an eventfd. Others write to the descriptor (8 bytes, a number above 0); only the lane reads.
package struct Wakeup: ~Copyable, Sendable {
    /// For poll(2), and for those who signal by themselves, such as librdkafka.
    package let descriptor: Int32

    /// The corresponding C function is `eventfd`.
    package init() throws(LaneError) {
        descriptor = glibc_eventfd(0)
        if descriptor < 0 { throw LaneError(call: "eventfd", code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Wakes the lane, now or as soon as it waits.
    ///
    /// The corresponding C function is `write`.
    package func signal() {
        var one: UInt64 = 1
        // It can only fail when the counter is full, and then the lane is awake already.
        _ = unsafe withUnsafeBytes(of: &one) { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Takes the signal away, if there is one.
    ///
    /// The corresponding C function is `read`.
    package func clear() {
        var count: UInt64 = 0
        _ = unsafe withUnsafeMutableBytes(of: &count) { unsafe read(descriptor, $0.baseAddress, $0.count) }
    }
}
