internal import Glibc
internal import Synchronization

/// Where log lines go.
package protocol LogOutput: Sendable {
    /// Writes one line, its end included; false when it was lost.
    func write(_ line: [UInt8]) -> Bool
}

/// A file descriptor as the place of log lines: one write(2) a line, and no waiting for a reader who does not keep up.
package final class DescriptorOutput: LogOutput {
    package static let standardError = DescriptorOutput(STDERR_FILENO)

    private let descriptor: Int32
    /// Whether the last line was lost; then the next one does not wait at all.
    ///
    /// The lock keeps two threads from taking the same room in a pipe.
    private let isBlocked = Mutex(false)

    /// Milliseconds that a line waits for a full pipe to be read.
    private static let patience: Int32 = 100

    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The corresponding C functions are `poll` and `write`.
    package func write(_ line: [UInt8]) -> Bool {
        isBlocked.withLock { isBlocked in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let patience = isBlocked ? 0 : Self.patience
            // A pipe that is ready takes PIPE_BUF bytes at once, and no line has more: the write below does not block.
            let isReady = unsafe poll(&waiting, 1, patience) == 1 && waiting.revents & Int16(POLLOUT) != 0
            let isWritten = isReady && writeAll(line)
            isBlocked = !isWritten
            return isWritten
        }
    }

    private func writeAll(_ line: [UInt8]) -> Bool {
        var rest = line[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
