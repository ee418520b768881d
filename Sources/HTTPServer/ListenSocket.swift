internal import Glibc

/// A bound and listening socket.
///
/// Made here rather than by libmicrohttpd, which does not say why it could not bind.
struct ListenSocket: ~Copyable {
    let descriptor: CInt
    /// The real port, also where the system has chosen it.
    let port: UInt16

    /// Binds and listens; without an address it is a door that nobody comes to.
    init(_ address: ListenAddress?) throws(ServerError) {
        guard let address else {
            // No call takes this number: nothing waits, nothing is accepted, nothing is closed.
            descriptor = -1
            port = 0
            return
        }
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let host = address.host.isEmpty ? nil : address.host
        guard unsafe getaddrinfo(host, String(address.port), &hints, &found) == 0 else {
            throw .unknownHost(address.host)
        }
        defer { unsafe freeaddrinfo(found) }
        var code: Int32 = 0
        var candidate = unsafe found
        while let info = unsafe candidate {
            let descriptor = unsafe ListenSocket.listen(on: info.pointee)
            if descriptor >= 0 {
                self.descriptor = descriptor
                port = ListenSocket.port(of: descriptor)
                return
            }
            code = errno
            unsafe candidate = info.pointee.ai_next
        }
        throw .listen(address, code: code)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// A connection that waits to be accepted; nil when there is none.
    func accept() -> AcceptedSocket? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe Glibc.accept(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
        }
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return AcceptedSocket(descriptor: accepted, address: address, length: length)
    }

    /// Takes no more connections: those that wait to be accepted are refused, as are new ones.
    func refuseConnections() {
        shutdown(descriptor, CInt(SHUT_RD))
    }

    /// - Returns: a descriptor, or -1 with `errno`.
    private static func listen(on info: addrinfo) -> CInt {
        let type = unsafe info.ai_socktype | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = unsafe socket(info.ai_family, type, info.ai_protocol)
        guard descriptor >= 0 else { return -1 }
        var yes: CInt = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        if unsafe bind(descriptor, info.ai_addr, info.ai_addrlen) == 0,
            Glibc.listen(descriptor, SOMAXCONN) == 0
        {
            return descriptor
        }
        let code = errno
        close(descriptor)
        errno = code
        return -1
    }

    private static func port(of descriptor: CInt) -> UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        unsafe withUnsafeMutableBytes(of: &address) { bytes in
            _ = unsafe getsockname(
                descriptor,
                bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                &length
            )
        }
        // The port is at the same place in both families.
        return unsafe withUnsafeBytes(of: address) {
            UInt16(bigEndian: unsafe $0.load(fromByteOffset: 2, as: UInt16.self))
        }
    }
}

/// A client's socket, not yet with anybody who closes it.
struct AcceptedSocket {
    let descriptor: CInt
    let address: sockaddr_storage
    let length: socklen_t
}
