internal import Cglibc
internal import Glibc
internal import Lanes

/// SIGTERM, SIGINT and the terminal's SIGHUP as something to wait for; the second one ends the process at once, however stuck it is.
///
/// While it lives the first signal makes ``descriptor`` readable. Only one may live at a time. Programs that this one starts
/// get the signals' usual effect.
package struct TerminationSignals: ~Copyable {
    private let event: Event

    /// The corresponding C functions are `eventfd` and `sigaction`.
    package init() throws(HostingError) {
        let event = try HostingError.system { () throws(LaneError) in try Event() }
        if glibc_catch_termination(event.descriptor) != 0 { throw .system(call: "sigaction", code: errno) }
        self.event = event
    }

    deinit {
        glibc_release_termination()
    }

    /// Readable once a signal came.
    package var descriptor: Int32 { event.descriptor }

    /// The name of the signal that came, or nil; it is told once.
    package func take() -> String? {
        var value: UInt64 = 0
        let count = unsafe withUnsafeMutableBytes(of: &value) {
            unsafe read(descriptor, $0.baseAddress, $0.count)
        }
        guard count == 8 else { return nil }
        return switch Int32(truncatingIfNeeded: value) {
        case SIGINT: "SIGINT"
        case SIGHUP: "SIGHUP"
        default: "SIGTERM"
        }
    }
}
