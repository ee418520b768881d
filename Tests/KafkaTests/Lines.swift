import Synchronization

@testable import Kafka

/// Gathers log lines from a sink.
final class Lines: Sendable {
    private let lines = Mutex<[LogLine]>([])

    var all: [LogLine] { lines.withLock { $0 } }

    func append(_ line: LogLine) {
        lines.withLock { $0.append(line) }
    }
}
