internal import Synchronization
internal import Telemetry

/// Keeps what the workers log, so that it does not run through the picture; shown at the end if something went wrong.
final class LogBook: LogOutput {
    /// Lines kept, the last ones.
    static let limit = 20

    private let kept = Mutex<[String]>([])

    /// The log that writes here.
    var log: Log {
        Log(
            level: .warning,
            style: .text(colours: false, secondsFromUTC: LogClock.secondsFromUTC),
            output: self
        )
    }

    var lines: [String] { kept.withLock { $0 } }

    func write(_ line: [UInt8]) -> Bool {
        let text = String(decoding: line.last == 0x0A ? line.dropLast() : line[...], as: UTF8.self)
        kept.withLock { kept in
            if kept.count >= Self.limit { kept.removeFirst() }
            kept.append(text)
        }
        return true
    }
}
