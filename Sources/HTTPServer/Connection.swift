internal import Cmicrohttpd
internal import Glibc
internal import Synchronization

/// A client's connection: its socket, its peer, and how far it is.
///
/// Kept in the server's table from the first notification of libmicrohttpd to the last, which comes before the socket is closed. So as long
/// as the connection is not closed, its descriptor and its handle are valid; both are used only under the lock.
final class Connection: Sendable {
    let address: String
    /// The certificates that the session was started with; GnuTLS points at them until the connection is gone.
    private let credentials: Credentials?
    private let handle: UInt
    private let descriptor: CInt
    private let progress: Mutex<ConnectionProgress>
    private let certificate = Mutex<CertificateCheck?>(nil)

    init(handle: OpaquePointer, credentials: Credentials?, limits: Server.Limits) {
        self.handle = UInt(bitPattern: handle)
        self.credentials = credentials
        descriptor = unsafe posthorn_mhd_socket(handle)
        address = unsafe numericAddress(posthorn_mhd_peer(handle))
        progress = Mutex(ConnectionProgress(limits: limits, at: .now))
        if let credentials, let session = unsafe posthorn_mhd_tls_session(handle) {
            unsafe posthorn_tls_prepare(session, credentials.pointer, credentials.clientRequest)
        }
    }

    /// Whether the connection was made under these certificates; one that was not carries no further request.
    func uses(_ current: Credentials?) -> Bool { credentials === current }

    func update<Result>(_ body: (inout sending ConnectionProgress) -> sending Result) -> sending Result {
        progress.withLock(body)
    }

    /// Ends the handler's turn: gives its answer, or puts the connection aside until there is one.
    func handlerReturned() -> ConnectionProgress.Answer? {
        progress.withLock { progress in
            let answer = progress.returned()
            if answer == nil { unsafe MHD_suspend_connection(OpaquePointer(bitPattern: handle)) }
            return answer
        }
    }

    /// Takes an answer from any thread.
    func answer(_ answer: ConnectionProgress.Answer, to sequence: UInt64) {
        progress.withLock { progress in
            if progress.answer(answer, to: sequence) {
                unsafe MHD_resume_connection(OpaquePointer(bitPattern: handle))
            }
        }
    }

    /// Puts the connection aside in the middle of its answer.
    func pause() -> Bool {
        progress.withLock { progress in
            guard progress.pause() else { return false }
            unsafe MHD_suspend_connection(OpaquePointer(bitPattern: handle))
            return true
        }
    }

    /// Goes on with the answer, if the connection is still put aside.
    func goOn() {
        progress.withLock { progress in
            if progress.goOn() { unsafe MHD_resume_connection(OpaquePointer(bitPattern: handle)) }
        }
    }

    /// Ends the connection if it is overdue.
    ///
    /// - Returns: the deadline that it still has.
    func enforceDeadline(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        progress.withLock { progress in
            guard progress.isOverdue(at: now) else { return progress.deadline }
            shutdown(descriptor, CInt(SHUT_RDWR))
            return nil
        }
    }

    /// Ends the connection if it has been between two requests for a moment and nothing of the next one has arrived.
    func closeIfIdle(at now: ContinuousClock.Instant) {
        progress.withLock { progress in
            guard progress.stage == .waiting, now - progress.waitingSince > .milliseconds(100) else { return }
            var byte: UInt8 = 0
            let count = unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT))
            if count <= 0 { shutdown(descriptor, CInt(SHUT_RDWR)) }
        }
    }

    /// Ends the connection in the middle of whatever it does, answering nothing more.
    func abandon() {
        progress.withLock { progress in
            guard progress.stage != .closed else { return }
            progress.giveUp()
            if progress.answer(.close, to: progress.sequence) || progress.goOn() {
                unsafe MHD_resume_connection(OpaquePointer(bitPattern: handle))
            }
            shutdown(descriptor, CInt(SHUT_RDWR))
        }
    }

    /// What the client showed; checked once for each connection, after the handshake.
    func clientCertificate() -> CertificateCheck {
        certificate.withLock { known in
            if let known { return known }
            let session = unsafe OpaquePointer(bitPattern: handle).flatMap {
                unsafe posthorn_mhd_tls_session($0)
            }
            let check = unsafe session.map { unsafe CertificateCheck(of: $0) } ?? .absent
            known = check
            return check
        }
    }
}

/// The IP address in text, without port.
private func numericAddress(_ address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "" }
    let length =
        unsafe Int32(address.pointee.sa_family) == AF_INET6
        ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let code = unsafe getnameinfo(
        address,
        socklen_t(length),
        &text,
        socklen_t(text.count),
        nil,
        0,
        NI_NUMERICHOST
    )
    guard code == 0 else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
