/// How far a connection is with its current request, and until when it may take.
///
/// Pure: time comes in, what is to be done goes out. The connection's lock serialises access.
///
/// ```
/// waiting ─▶ head ─▶ body ─▶ handling ──────────────▶ answering ─▶ waiting …
///    │         │       │        └─▶ suspended ─▶ ready ──▲ │ ◀──▶ pausing
///    └─────────┴───────┴── deadline ────────────────────────┴──▶ the socket is shut down
/// ```
///
/// While the handler is at work there is no deadline: the client has done its part.
struct ConnectionProgress: Sendable {
    enum Stage: Sendable, Equatable {
        /// No request line yet: a new connection, or one between two requests.
        case waiting
        /// The request line is there, the header is not complete.
        case head
        /// The header is complete and the body is coming.
        case body
        /// The handler has the request.
        case handling
        /// The handler has not answered at once; libmicrohttpd has put the connection aside.
        case suspended
        /// The answer is there and libmicrohttpd will ask for it.
        case ready(Answer)
        /// The answer is being sent.
        case answering
        /// The answer is being sent slowly, and libmicrohttpd has put the connection aside until the next piece is due.
        case pausing
        case closed
    }

    enum Answer: Sendable, Equatable {
        case response(Response)
        /// End the connection without an answer.
        case close
    }

    private let limits: Server.Limits
    private(set) var stage = Stage.waiting
    /// When the connection is to be shut down if it has not got further; nil while it is ours to act.
    private(set) var deadline: ContinuousClock.Instant?
    /// When the connection was made or its last request was over.
    private(set) var waitingSince: ContinuousClock.Instant
    /// Counts requests, so that a late answer cannot go to the next one.
    private(set) var sequence: UInt64 = 0
    private(set) var target: (text: String, address: UInt)?
    private(set) var head: RequestHead?
    private var body: [UInt8] = []
    /// Why the request will be refused once its body has been read and dropped.
    private(set) var refusal: Refusal?
    /// Bytes of the body that are not wanted; once there are some, none is kept.
    private(set) var excess = 0
    private var isGivenUp = false

    init(limits: Server.Limits, at now: ContinuousClock.Instant) {
        self.limits = limits
        waitingSince = now
        deadline = now + limits.headerTime
    }

    /// The request line has come.
    mutating func began(target: String, address: UInt, at now: ContinuousClock.Instant) {
        sequence += 1
        stage = .head
        self.target = (target, address)
        let end = now + limits.headerTime
        deadline = min(deadline ?? end, end)
    }

    /// The header is complete and in order; with a refusal, the body is only read so that the client comes to read its answer.
    mutating func accepted(
        _ head: RequestHead,
        refusing refusal: Refusal? = nil,
        at now: ContinuousClock.Instant
    ) {
        stage = .body
        self.head = head
        self.refusal = refusal
        deadline = now + limits.bodyTime
        if refusal == nil { body.reserveCapacity(min(head.contentLength ?? 0, limits.bodyBytes)) }
    }

    /// Keeps bytes of the body up to the limit and drops everything once it is passed.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let room = limits.bodyBytes - body.count
        if refusal != nil {
            excess += bytes.count
        } else if bytes.count > room {
            refusal = .bodyTooLarge(limit: limits.bodyBytes)
            excess = bytes.count - room
            body = []
        } else {
            unsafe body.append(contentsOf: bytes)
        }
    }

    /// The body is complete; the handler's turn.
    ///
    /// - Returns: the body, which is the handler's from now on.
    mutating func completed() -> [UInt8] {
        stage = .handling
        deadline = nil
        var taken: [UInt8] = []
        swap(&taken, &body)
        return taken
    }

    /// The handler has returned.
    ///
    /// - Returns: its answer, or nil when it has not answered yet: the connection is to be put aside.
    mutating func returned() -> Answer? {
        if case .ready(let answer) = stage { return answer }
        stage = .suspended
        return nil
    }

    /// An answer to the request with this number.
    ///
    /// - Returns: whether a connection that was put aside has to be taken up again. A second answer changes nothing.
    mutating func answer(_ answer: Answer, to sequence: UInt64) -> Bool {
        guard sequence == self.sequence else { return false }
        switch stage {
        case .handling:
            stage = .ready(answer)
            return false
        case .suspended:
            stage = .ready(answer)
            return true
        case .waiting, .head, .body, .ready, .answering, .pausing, .closed:
            return false
        }
    }

    /// The answer is with libmicrohttpd; `extra` is how long its own pace makes it take.
    mutating func sending(at now: ContinuousClock.Instant, extra: Duration = .zero) {
        stage = .answering
        deadline = now + limits.answerTime + extra
    }

    /// The next piece of the answer is not due yet.
    ///
    /// - Returns: whether the connection may be put aside; not once it is given up.
    mutating func pause() -> Bool {
        guard stage == .answering, !isGivenUp else { return false }
        stage = .pausing
        return true
    }

    /// The next piece is due, or the connection ends.
    ///
    /// - Returns: whether it was put aside and has to be taken up again.
    mutating func goOn() -> Bool {
        guard stage == .pausing else { return false }
        stage = .answering
        return true
    }

    /// Nothing more is sent slowly.
    mutating func giveUp() {
        isGivenUp = true
    }

    /// The request is over; the connection may bring another.
    mutating func finished(at now: ContinuousClock.Instant) {
        guard stage != .closed else { return }
        stage = .waiting
        waitingSince = now
        deadline = now + limits.idleTime
        target = nil
        head = nil
        body = []
        refusal = nil
        excess = 0
    }

    mutating func closed() {
        stage = .closed
        deadline = nil
    }

    /// Whether the connection has taken longer than it may.
    func isOverdue(at now: ContinuousClock.Instant) -> Bool {
        deadline.map { $0 <= now } ?? false
    }
}
