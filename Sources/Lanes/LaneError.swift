internal import Glibc

/// The system refused what a lane needs.
package struct LaneError: Error, Sendable, Equatable {
    /// The C function that failed, and its error number.
    package let call: String
    package let code: Int32
}

extension LaneError: CustomStringConvertible {
    package var description: String {
        unsafe "\(call) failed: \(String(cString: strerror(code)))"
    }
}
