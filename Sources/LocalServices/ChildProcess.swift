internal import Cglibc
internal import Glibc
internal import Synchronization

/// A program started by this one, which never outlives it.
///
/// A thread of its own starts the program and waits for its end, for two reasons: the kernel's parent-death signal
/// is bound to the thread that started the child, and a child that nobody waits for stays as a zombie. The child gets
/// its own process group, so that Ctrl-C reaches only this program, which then stops its children in order.
///
/// ```
/// init ──spawn──▶ running ──signal──▶ running ──end──▶ ended(status)
/// ```
package final class ChildProcess: Sendable {
    package enum Status: Sendable, Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Where the child's standard output and standard error go.
    package enum Output: Sendable {
        case inherit
        case discard
        /// Appended to this file, both streams in one.
        case file(String)
        /// Standard output and standard error in a file each.
        case files(output: String, error: String)
    }

    /// What the kernel sends the child when this process dies; the raw value is `setpriv`'s name for it.
    package enum DeathSignal: String, Sendable {
        case interrupt = "INT"
        case terminate = "TERM"
        case kill = "KILL"
    }

    package struct Command: Sendable {
        package var program: String
        package var arguments: [String]
        /// Added to this process's environment; nil removes a name.
        package var environment: [String: String?] = [:]
        package var output: Output = .inherit
        /// Standard input comes from this file; nil means none (`/dev/null`).
        package var input: String?
        /// The account to become, which needs root; nil keeps this process's.
        package var account: Account?
        /// What the child gets should this process die without stopping it.
        package var deathSignal = DeathSignal.kill

        package init(_ program: String, _ arguments: [String] = []) {
            self.program = program
            self.arguments = arguments
        }
    }

    package let pid: Int32
    private let state: Shared

    /// Starts `command`; returns once the child exists.
    ///
    /// - Throws: ``LocalServicesError/system(call:code:)`` when it cannot be started.
    package init(_ command: Command) throws(LocalServicesError) {
        var ends: [Int32] = [0, 0]
        guard unsafe glibc_pipe(&ends) == 0 else { throw .system(call: "pipe2", code: errno) }
        let shared = Shared(endRead: ends[0], endWrite: ends[1])
        let start = Start(command: command, shared: shared)
        var thread = pthread_t()
        let opaque = unsafe Unmanaged.passRetained(start).toOpaque()
        let code = unsafe pthread_create(&thread, nil, { unsafe Reaper.run($0) }, opaque)
        guard code == 0 else {
            unsafe Unmanaged<Start>.fromOpaque(opaque).release()
            throw .system(call: "pthread_create", code: code)
        }
        pthread_detach(thread)
        state = shared
        pid = try shared.awaitStart()
    }

    /// How it ended, or nil while it runs.
    package var status: Status? { state.ended.withLock { $0 } }

    package var isRunning: Bool { status == nil }

    /// Sends `signal`, unless the child has ended.
    package func signal(_ signal: Int32) {
        state.ended.withLock { ended in
            if ended == nil { _ = kill(pid, signal) }
        }
    }

    /// Waits for the end.
    ///
    /// - Parameter timeout: the longest wait; nil waits as long as it takes.
    /// - Returns: how it ended, or nil when it still runs.
    package func wait(upTo timeout: Duration? = nil) -> Status? {
        state.awaitEnd(timeout)
        return status
    }

    /// Asks with `signal`, and kills when that is not heard within `grace`.
    @discardableResult
    package func stop(_ signal: Int32 = SIGTERM, grace: Duration = .seconds(20)) -> Status? {
        self.signal(signal)
        if let status = wait(upTo: grace) { return status }
        self.signal(SIGKILL)
        return wait(upTo: .seconds(10))
    }

    /// Runs `command` to its end.
    package static func run(_ command: Command) throws(LocalServicesError) -> Status {
        let child = try ChildProcess(command)
        while true {
            if let status = child.wait() { return status }
        }
    }
}

/// What the child's thread and its owner share; the pipe's write end closes when the child has ended.
private final class Shared: Sendable {
    let ended = Mutex<ChildProcess.Status?>(nil)
    private let started = Mutex<Result<pid_t, LocalServicesError>?>(nil)
    private let endRead: Int32
    private let endWrite: Int32

    init(endRead: Int32, endWrite: Int32) {
        self.endRead = endRead
        self.endWrite = endWrite
    }

    deinit { close(endRead) }

    func reportStart(_ result: Result<pid_t, LocalServicesError>) {
        started.withLock { $0 = result }
        var byte: UInt8 = 1
        _ = unsafe write(endWrite, &byte, 1)
        if case .failure = result { close(endWrite) }
    }

    func reportEnd(_ status: ChildProcess.Status) {
        ended.withLock { $0 = status }
        close(endWrite)
    }

    func awaitStart() throws(LocalServicesError) -> pid_t {
        var byte: UInt8 = 0
        while unsafe read(endRead, &byte, 1) < 0 && errno == EINTR {}
        switch started.withLock({ $0 }) {
        case .success(let pid): return pid
        case .failure(let error): throw error
        case nil: throw .system(call: "posix_spawn", code: EIO)
        }
    }

    func awaitEnd(_ timeout: Duration?) {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        repeat {
            let left = deadline.map { max(.zero, $0 - ContinuousClock.now) }
            let milliseconds = left.map {
                Int32(
                    clamping: $0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000
                        + 1
                )
            }
            var descriptor = pollfd(fd: endRead, events: 0, revents: 0)
            let ready = unsafe poll(&descriptor, 1, milliseconds ?? -1)
            if ready > 0 { return }
            if ready < 0 && errno != EINTR { return }
        } while deadline.map { ContinuousClock.now < $0 } ?? true
    }
}

private final class Start: Sendable {
    let command: ChildProcess.Command
    let shared: Shared

    init(command: ChildProcess.Command, shared: Shared) {
        self.command = command
        self.shared = shared
    }
}

/// The body of a child's thread.
private enum Reaper {
    static func run(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let opaque = unsafe opaque else { return nil }
        let start = unsafe Unmanaged<Start>.fromOpaque(opaque).takeRetainedValue()
        do throws(LocalServicesError) {
            let pid = try Spawn.start(start.command)
            start.shared.reportStart(.success(pid))
            start.shared.reportEnd(awaitEnd(of: pid))
        } catch {
            start.shared.reportStart(.failure(error))
        }
        return nil
    }

    private static func awaitEnd(of pid: pid_t) -> ChildProcess.Status {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
    }
}
