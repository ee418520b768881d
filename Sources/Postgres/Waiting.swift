internal import Cpq
internal import Glibc

/// What ended a wait.
enum WaitOutcome {
    case ready
    case timedOut
    case interrupted
}

/// The one place where this module blocks.
enum Waiting {
    /// Waits until `socket` can be read (or written, if `writing`), `interrupt` can be read, or `deadline` has come.
    ///
    /// Either descriptor may be -1 for none. The socket goes first if several are ready.
    ///
    /// The corresponding C function is `poll`.
    static func wait(
        socket: Int32,
        writing: Bool = false,
        interrupt: Int32,
        until deadline: ContinuousClock.Instant
    ) -> WaitOutcome {
        let events = writing ? Int16(POLLIN | POLLOUT) : Int16(POLLIN)
        var descriptors: [2 of pollfd] = [
            pollfd(fd: socket, events: events, revents: 0),
            pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            var span = descriptors.mutableSpan
            let found = unsafe span.withUnsafeMutableBufferPointer { buffer in
                unsafe poll(buffer.baseAddress, nfds_t(buffer.count), left.wholeMilliseconds)
            }
            if found > 0 { return descriptors[0].revents != 0 ? .ready : .interrupted }
            // A signal is no reason to stop; anything else that poll refuses will not get better by waiting.
            if found < 0, errno != EINTR { return .timedOut }
            if left <= .zero { return .timedOut }
        }
    }
}

/// How long one exchange with the server may take, and what happens when it takes longer.
///
/// ```
///   running ──deadline or stop──▶ cancelling ──grace over──▶ given up: the session is dropped
///      │                              │
///      └───────────▶ over ◀───────────┘  the session can be used again
/// ```
/// Cancelling sends a cancel request in the background and goes on waiting for the server's answer, at most for the grace.
struct Patience: ~Copyable {
    /// When the next thing happens: cancelling begins, a cancel request is repeated, or the session is given up.
    private var deadline: ContinuousClock.Instant
    /// When a cancelled statement must have ended.
    private var end: ContinuousClock.Instant
    private let grace: Duration
    private var repetition: Duration = .milliseconds(100)
    private let interrupt: Int32
    /// Why the statement is being cancelled; nil while running.
    private(set) var reason: PostgresError.Kind?
    /// The session is in an unknown state and must not be used again.
    private(set) var isGivenUp = false
    /// Readable at its end of file, once the cancel request is delivered; -1 for none.
    private var delivery: Int32 = -1

    /// Whether the caller wants to stop already, so that nothing need be sent.
    var isInterrupted: Bool {
        interrupt >= 0 && Waiting.wait(socket: -1, interrupt: interrupt, until: .now) == .interrupted
    }

    init(timeout: Duration, grace: Duration, interrupt: Int32) {
        deadline = ContinuousClock.now + timeout
        end = deadline
        self.grace = grace
        self.interrupt = interrupt
    }

    deinit { if delivery >= 0 { close(delivery) } }

    /// Waits for the session's socket, and cancels the statement when patience ends.
    ///
    /// - Throws: ``PostgresError/Kind/timeout`` or ``PostgresError/Kind/interrupted`` when cancelling did not help either.
    mutating func wait(for connection: OpaquePointer, writing: Bool = false) throws(PostgresError) {
        while true {
            let outcome = unsafe Waiting.wait(
                socket: PQsocket(connection),
                writing: writing,
                interrupt: reason == nil ? interrupt : -1,
                until: deadline
            )
            switch outcome {
            case .ready: return
            case .timedOut: try unsafe stop(because: .timeout, connection)
            case .interrupted: try unsafe stop(because: .interrupted, connection)
            }
        }
    }

    /// Starts the wait anew, as after progress in a COPY.
    mutating func renew(timeout: Duration) {
        if reason == nil { deadline = ContinuousClock.now + timeout }
    }

    /// Waits until a cancel request under way has been delivered, so that it cannot hit the next statement.
    mutating func settle() {
        guard reason != nil, !isGivenUp else { return }
        if delivery < 0 || Waiting.wait(socket: delivery, interrupt: -1, until: end) != .ready {
            isGivenUp = true
        }
    }

    /// The error as the caller should see it: a statement that we had cancelled failed for our reason.
    func explain(_ error: PostgresError) -> PostgresError {
        guard let reason, error.kind == .cancelled else { return error }
        var explained = error
        explained.kind = reason
        explained.message = Self.text(reason)
        return explained
    }

    private mutating func stop(
        because newReason: PostgresError.Kind,
        _ connection: OpaquePointer
    ) throws(PostgresError) {
        if let reason, ContinuousClock.now >= end {
            isGivenUp = true
            throw PostgresError(reason, Self.text(reason) + " and its session was dropped")
        }
        if reason == nil {
            reason = newReason
            end = ContinuousClock.now + grace
        }
        unsafe sendCancel(connection)
        deadline = min(end, ContinuousClock.now + repetition)
        repetition *= 2
    }

    /// Sends a cancel request unless one is still on its way.
    ///
    /// It is repeated, since one that overtakes its statement has no effect.
    private mutating func sendCancel(_ connection: OpaquePointer) {
        if delivery >= 0 {
            guard Waiting.wait(socket: delivery, interrupt: -1, until: .now) == .ready else { return }
            close(delivery)
            delivery = -1
        }
        if let cancel = unsafe PQgetCancel(connection) { delivery = unsafe pq_cancel_start(cancel) }
    }

    private static func text(_ reason: PostgresError.Kind) -> String {
        reason == .interrupted ? "the statement was stopped by its caller" : "the statement took too long"
    }
}
