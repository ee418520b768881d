internal import Glibc
internal import Synchronization

/// One thread that does what is due: delayed answers, new connections, and whatever its owner wants done from time to time.
///
/// Waits in `poll(2)`, also on a pipe of its own, so that an earlier appointment and the end are noticed at once.
final class Timekeeper: Sendable {
    private let appointments = Mutex(Appointments())
    private let isStopping = Atomic(false)
    private let wakeReader: CInt
    private let wakeWriter: CInt

    /// - Throws: ``ServerError/library(code:)`` when there are no descriptors left.
    init() throws(ServerError) {
        var ends: (CInt, CInt) = (-1, -1)
        let code = unsafe withUnsafeMutableBytes(of: &ends) { bytes in
            unsafe pipe(bytes.assumingMemoryBound(to: CInt.self).baseAddress)
        }
        guard code == 0 else { throw .library(code: errno) }
        (wakeReader, wakeWriter) = ends
        for end in [wakeReader, wakeWriter] {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    /// Does `action` on the timekeeper's thread, no earlier than after `delay`.
    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        let isFirst = appointments.withLock { $0.add(at: .now + delay, action) }
        if isFirst { wake() }
    }

    /// Runs until ``stop()``; what is still to be done then is done at once.
    ///
    /// - Parameters:
    ///   - door: a descriptor to watch for now, or nil; asked before each wait.
    ///   - open: called when the door is readable.
    ///   - housekeeping: called when it is due; returns when it wants to be called again.
    func run(
        watching door: () -> CInt?,
        open: () -> Void,
        housekeeping: (ContinuousClock.Instant) -> ContinuousClock.Instant
    ) {
        var nextRound = ContinuousClock.now
        while !isStopping.load(ordering: .acquiring) {
            let now = ContinuousClock.now
            if now >= nextRound { nextRound = housekeeping(now) }
            for action in appointments.withLock({ $0.takeDue(at: now) }) { action() }
            let next = min(nextRound, appointments.withLock(\.first) ?? nextRound)
            if wait(until: next, or: door()) { open() }
        }
        for action in appointments.withLock({ $0.takeAll() }) { action() }
    }

    func stop() {
        isStopping.store(true, ordering: .releasing)
        wake()
    }

    /// Makes the thread look again at what it waits for.
    func wake() {
        var byte: UInt8 = 1
        _ = unsafe write(wakeWriter, &byte, 1)
    }

    /// - Returns: whether `door` is readable.
    private func wait(until instant: ContinuousClock.Instant, or door: CInt?) -> Bool {
        let (seconds, attoseconds) = max(.zero, instant - .now).components
        let milliseconds = min(60_000, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
        var waiting = [wakeReader, door ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&waiting, 2, CInt(milliseconds)) > 0 else { return false }
        var bytes: UInt64 = 0
        while unsafe read(wakeReader, &bytes, 8) == 8 {}
        return waiting[1].revents != 0
    }
}

/// Actions by time, in a binary heap.
private struct Appointments {
    private var heap: [(at: ContinuousClock.Instant, action: @Sendable () -> Void)] = []

    var first: ContinuousClock.Instant? { heap.first?.at }

    /// - Returns: whether this is now the first.
    mutating func add(at instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> Bool {
        heap.append((instant, action))
        var child = heap.count - 1
        while child > 0, heap[child].at < heap[(child - 1) / 2].at {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return child == 0
    }

    mutating func takeDue(at now: ContinuousClock.Instant) -> [@Sendable () -> Void] {
        var due: [@Sendable () -> Void] = []
        while let first, first <= now { due.append(removeFirst()) }
        return due
    }

    mutating func takeAll() -> [@Sendable () -> Void] {
        defer { heap = [] }
        return heap.map(\.action)
    }

    private mutating func removeFirst() -> @Sendable () -> Void {
        heap.swapAt(0, heap.count - 1)
        let removed = heap.removeLast()
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return removed.action }
            let child = left + 1 < heap.count && heap[left + 1].at < heap[left].at ? left + 1 : left
            guard heap[child].at < heap[parent].at else { return removed.action }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
