internal import Glibc
internal import Lanes

/// What keeps a process from starting.
package enum HostingError: Error, Sendable, Equatable {
    /// The system refused a call.
    case system(call: String, code: Int32)
    /// Nothing can be served at the address.
    case cannotListen(address: String, reason: String)
    /// More processes than there are slots.
    case noFreeSlot(limit: Int)
}

extension HostingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .system(let call, let code):
            unsafe "\(call) failed: \(String(cString: strerror(code)))"
        case .cannotListen(let address, let reason):
            "cannot listen on \(address): \(reason)"
        case .noFreeSlot(let limit):
            "all \(limit) instance names of this host are taken; give one with --instance"
        }
    }
}

extension HostingError {
    /// The value of `start`, whose failure keeps the process from starting.
    static func system<Value: ~Copyable>(_ start: () throws(LaneError) -> Value) throws(HostingError) -> Value
    {
        do throws(LaneError) {
            return try start()
        } catch {
            throw .system(call: error.call, code: error.code)
        }
    }
}
