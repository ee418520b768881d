internal import Cglibc
internal import Glibc

/// An OS thread with a name; joined or let go exactly once by its owner.
struct Thread: Sendable {
    private let handle: pthread_t

    /// Starts a thread that runs `body` once.
    ///
    /// SIGTERM and SIGINT are blocked in it and in the threads that it starts, so that they reach the main thread and
    /// interrupt no library's call.
    ///
    /// The corresponding C function is `pthread_create`.
    init(name: String, body: @escaping @Sendable () -> Void) throws(LaneError) {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var old = Self.blockTermination()
        defer { unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
        var created = pthread_t()
        let code = unsafe pthread_create(&created, nil, enterThread, start.toOpaque())
        if code != 0 {
            unsafe start.release()
            throw LaneError(call: "pthread_create", code: code)
        }
        handle = created
    }

    /// Waits for the end of a thread that is known to end at once.
    func join() {
        pthread_join(handle, nil)
    }

    /// Lets a thread go that does not end; its memory stays its own.
    func letGo() {
        pthread_detach(handle)
    }

    fileprivate final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private static func blockTermination() -> sigset_t {
        var blocked = sigset_t()
        var old = sigset_t()
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGTERM)
        unsafe sigaddset(&blocked, SIGINT)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &old)
        return old
    }
}

/// Where the C library starts a thread; it takes over the reference that ``Thread`` left for it.
private func enterThread(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let start = unsafe start else { return nil }
    let taken = unsafe Unmanaged<Thread.Start>.fromOpaque(start).takeRetainedValue()
    _ = unsafe taken.name.withCString { unsafe glibc_pthread_setname($0) }
    taken.body()
    return nil
}
