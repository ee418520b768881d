internal import Cmicrohttpd
internal import Glibc
internal import Synchronization

/// How slowly, and how far, an answer's body is sent: what a broken proxy or a starved server does to it.
package struct Pace: Sendable, Equatable {
    /// Bytes of a piece; at least 1.
    package var bytes: Int
    /// Time between two pieces.
    package var every: Duration
    /// Bytes after which the connection is ended, although more was announced; nil: all is sent.
    package var breaksOffAfter: Int?

    package init(bytes: Int = .max, every: Duration = .zero, breaksOffAfter: Int? = nil) {
        self.bytes = max(1, bytes)
        self.every = every
        self.breaksOffAfter = breaksOffAfter
    }

    /// How long a body of this size takes.
    func time(for count: Int) -> Duration {
        every * min(count / bytes, 1_000_000)
    }
}

/// A body that is sent piece by piece.
///
/// libmicrohttpd knows it by an integer. Between two pieces its connection is put aside and costs no thread. The table's lock serialises
/// access; the pieces of one answer are asked for by one thread.
final class PacedAnswer: Sendable {
    private let body: [UInt8]
    private let pace: Pace
    private let core: Core
    private let connection: Connection
    private let begin = ContinuousClock.now

    private init(_ body: [UInt8], _ pace: Pace, _ core: Core, _ connection: Connection) {
        self.body = body
        self.pace = pace
        self.core = core
        self.connection = connection
    }

    /// - Returns: nil when libmicrohttpd has no memory.
    static func response(
        _ body: [UInt8],
        _ pace: Pace,
        core: Core,
        connection: Connection
    ) -> OpaquePointer? {
        let id = table.withLock { $0.add(PacedAnswer(body, pace, core, connection)) }
        let made = unsafe posthorn_mhd_paced_response(
            body.count,
            max(1, min(pace.bytes, 64 << 10)),
            { context, position, buffer, room in
                guard let answer = PacedAnswer.find(UInt(bitPattern: context)), let buffer = unsafe buffer
                else { return posthorn_mhd_broken_off }
                return unsafe answer.give(from: Int(clamping: position), buffer, room)
            },
            id,
            { context in
                let id = UInt(bitPattern: context)
                _ = PacedAnswer.table.withLock { $0.answers.removeValue(forKey: id) }
            }
        )
        if unsafe made == nil { _ = table.withLock { $0.answers.removeValue(forKey: id) } }
        return unsafe made
    }

    /// Copies what is due, at most `room` bytes; 0 when nothing is and the connection was put aside.
    private func give(from position: Int, _ buffer: UnsafeMutablePointer<CChar>, _ room: Int) -> Int {
        let end = min(body.count, pace.breaksOffAfter ?? .max)
        guard position < end else { return posthorn_mhd_broken_off }
        let due = position / pace.bytes
        let wait = begin + pace.every * due - .now
        if wait > .zero {
            guard connection.pause() else { return posthorn_mhd_broken_off }
            core.timekeeper.schedule(after: wait) { [connection] in connection.goOn() }
            return 0
        }
        let (pieceEnd, overflow) = ((due + 1).multipliedReportingOverflow(by: pace.bytes))
        let count = min(room, (overflow ? end : min(end, pieceEnd)) - position)
        unsafe body.withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawPointer(buffer).copyMemory(
                from: bytes.baseAddress! + position,
                byteCount: count
            )
        }
        return count
    }

    private static func find(_ id: UInt) -> PacedAnswer? {
        table.withLock { $0.answers[id] }
    }

    private struct Table {
        var answers: [UInt: PacedAnswer] = [:]
        private var lastID: UInt = 0

        mutating func add(_ answer: PacedAnswer) -> UInt {
            lastID += 1
            answers[lastID] = answer
            return lastID
        }
    }

    private static let table = Mutex(Table())
}
