internal import Glibc
internal import JSON
internal import Push
internal import Synchronization

/// A file to which each received item is appended as one line of JSON, as ``ReceivedItem/write(to:)`` makes it.
///
/// A request's lines are written together under a lock, so lines are whole and those of a request stay together.
final class RecordFile: Sendable {
    private let path: String
    private let descriptor: CInt
    private let lock = Mutex(())

    /// - Throws: ``SimulationError/record(path:code:)`` when the file cannot be opened for appending.
    init(_ path: String) throws(SimulationError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw .record(path: path, code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Returns when the system has the lines.
    ///
    /// - Throws: ``SimulationError/record(path:code:)`` when it does not take them (a full disk): then nothing must be answered as received.
    func append(_ items: [ReceivedItem]) throws(SimulationError) {
        var writer = Writer()
        for item in items { item.write(to: &writer) }
        let code = lock.withLock { _ in writeAll(writer.bytes) }
        guard code == 0 else { throw .record(path: path, code: code) }
    }

    /// - Returns: 0, or `errno`.
    private func writeAll(_ bytes: [UInt8]) -> CInt {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return errno }
            written += count
        }
        return 0
    }
}

/// Why a simulation cannot start or go on.
package enum SimulationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The record file cannot be opened or written; `code` is an `errno`.
    case record(path: String, code: Int32)
    /// As many addresses are needed as a script has origins without one of their own.
    case addresses(needed: Int, given: Int)

    package var isRetriable: Bool { false }

    package var description: String {
        switch self {
        case .record(let path, let code): "cannot write the record \(path) (errno \(code))"
        case .addresses(let needed, let given):
            "\(given) addresses to listen on for \(needed) origins without one of their own"
        }
    }
}
