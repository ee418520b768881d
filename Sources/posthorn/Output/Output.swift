internal import Glibc
internal import Hosting
internal import JSON

/// Standard output, collected into large writes; a terminal gets each line at once.
///
/// Used by one thread. What is collected must be flushed before the process ends; the shell does.
final class Output {
    private let descriptor: Int32
    /// Whether a person watches.
    let isTerminal: Bool
    private var pending: [UInt8] = []

    /// Bytes that are collected before they are written.
    private static let capacity = 64 << 10

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = Terminal.isTerminal(descriptor)
    }

    func write(_ text: String) throws(OutputError) {
        try write(Array(text.utf8))
    }

    func write(_ bytes: [UInt8]) throws(OutputError) {
        pending += bytes
        if isTerminal || pending.count >= Self.capacity { try flush() }
    }

    func line(_ text: String) throws(OutputError) {
        try write(text + "\n")
    }

    /// Writes one JSON value as a line: `output.json { $0.object { … } }`.
    func json(_ build: (inout Writer) -> Void) throws(OutputError) {
        var writer = Writer()
        build(&writer)
        writer.endLine()
        try write(writer.bytes)
    }

    func flush() throws(OutputError) {
        let bytes = pending
        pending.removeAll(keepingCapacity: true)
        try Self.writeAll(bytes, to: descriptor)
    }

    /// The corresponding C function is `write`.
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(OutputError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // A pipe that somebody made non-blocking: wait for room.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&waiting, 1, -1)
            case EPIPE: throw .readerLeft
            default: throw .failed(code: errno)
            }
        }
    }
}

/// Output went nowhere.
enum OutputError: Error, Equatable {
    /// Whoever read has enough, as `head` does; nothing to complain about.
    case readerLeft
    case failed(code: Int32)
}

extension OutputError: CustomStringConvertible {
    var description: String {
        switch self {
        case .readerLeft: "nobody reads standard output"
        case .failed(let code): unsafe "cannot write to standard output: \(String(cString: strerror(code)))"
        }
    }
}
