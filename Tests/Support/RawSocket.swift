internal import Glibc
internal import LocalServices

/// A TCP connection on loopback, spoken to byte by byte.
package final class RawConnection: Sendable {
    private let descriptor: CInt

    package init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(port)
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw LocalServicesError.system(call: "connect", code: errno) }
    }

    fileprivate init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// - Returns: false when the peer has closed the connection.
    @discardableResult
    package func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        return count == bytes.count
    }

    /// Reads until the peer closes or nothing has come for `limit`.
    ///
    /// - Returns: what came, and whether the peer has closed.
    package func receive(for limit: Duration) -> (text: String, isClosed: Bool) {
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let milliseconds =
            limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000
        while true {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, CInt(milliseconds)) > 0 else {
                return (String(decoding: received, as: UTF8.self), false)
            }
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
            }
            guard count > 0 else { return (String(decoding: received, as: UTF8.self), true) }
            received.append(contentsOf: chunk[..<count])
        }
    }
}

/// A TCP server on loopback that does nothing by itself.
package final class RawListener: Sendable {
    private let descriptor: CInt
    package let port: UInt16

    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                unsafe bind(descriptor, raw, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, raw, &length) == 0
            }
        }
        guard isReady else { throw LocalServicesError.system(call: "listen", code: errno) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
    }

    /// Waits for a client.
    package func accept() throws -> RawConnection {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, 60_000) > 0 else {
            throw ConditionTimeout(description: "no client within 60 s")
        }
        return RawConnection(descriptor: Glibc.accept(descriptor, nil, nil))
    }

    /// Whether a client waits to be accepted.
    package var hasClient: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, 0) > 0
    }
}

private func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    return address
}
