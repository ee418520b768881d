import Copenssl

/// The one place where OpenSSL's answers become this module's errors.
enum Library {
    /// Throws unless a call answered 1.
    @inline(__always)
    static func check(_ answer: Int32, _ operation: StaticString) throws(SealingError) {
        guard answer == 1 else { throw failure(operation) }
    }

    /// A pointer that a call has made.
    static func made(
        _ pointer: OpaquePointer?,
        _ operation: StaticString
    ) throws(SealingError) -> OpaquePointer {
        guard let pointer = unsafe pointer else { throw failure(operation) }
        return unsafe pointer
    }

    /// The error that OpenSSL noted for this thread; its queue is empty afterwards, so that no later call is blamed for it.
    ///
    /// OpenSSL's reasons are texts of its own ("unsupported", "no strong …"), never data.
    @inline(never)
    static func failure(_ operation: StaticString) -> SealingError {
        let code = ERR_get_error()
        ERR_clear_error()
        let reason = unsafe ERR_reason_error_string(code)
        return .library(
            operation: "\(operation)",
            reason: unsafe reason.map { unsafe String(cString: $0) } ?? "unknown"
        )
    }

    /// Empties OpenSSL's queue after a failure that is a normal outcome.
    static func forgetErrors() {
        ERR_clear_error()
    }
}
