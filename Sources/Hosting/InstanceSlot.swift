internal import Glibc

/// A name for this process that no other process of the same group on this host has at the same time, and that its
/// successor gets again.
///
/// A transactional producer fences the one that had the same name before. So two living processes must never share a
/// name, and a process that starts in place of a dead one should get the dead one's. The name is the host's name and the number of
/// the first free slot.
///
/// A slot is held by a socket bound in Linux's abstract namespace, because the kernel frees it on any death, SIGKILL included, and
/// because it needs no file that a cleaner could remove, and no folder that two users, or two containers on the host's network, would have to share.
/// Processes with networks of their own and one host name do not see each other; they need `--instance`.
///
/// Source: unix(7), Abstract sockets.
package struct InstanceSlot: ~Copyable {
    /// Processes of one group on one host.
    package static let limit = 1024

    /// Such as `host-3`.
    package let name: String
    package let number: Int
    private let socket: Int32

    /// Takes the first free slot.
    ///
    /// - Parameter group: The consumer group or other kind of work; groups do not share slots.
    /// - Throws: ``HostingError/noFreeSlot(limit:)`` when all are taken, or ``HostingError/system(call:code:)``.
    ///
    /// The corresponding C functions are `socket` and `bind`.
    package init(group: String) throws(HostingError) {
        let host = try ProcessFacts.hostName()
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        if descriptor < 0 { throw .system(call: "socket", code: errno) }
        for candidate in 0..<Self.limit {
            if Self.bind(descriptor, to: Self.address(group: group, slot: candidate)) {
                number = candidate
                name = "\(host)-\(candidate)"
                socket = descriptor
                return
            }
            if errno != EADDRINUSE {
                let code = errno
                close(descriptor)
                throw .system(call: "bind", code: code)
            }
        }
        close(descriptor)
        throw .noFreeSlot(limit: Self.limit)
    }

    deinit {
        close(socket)
    }

    /// The group's name as a hash, for an address has 107 bytes; if two groups ever met in one, they would share slots and nothing worse.
    ///
    /// Source: FNV-1a, 64 bits.
    private static func address(group: String, slot: Int) -> [UInt8] {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in group.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Array("posthorn/\(String(hash, radix: 16))/\(slot)".utf8)
    }

    private static func bind(_ descriptor: Int32, to name: [UInt8]) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            // The leading zero makes it abstract.
            unsafe UnsafeMutableRawBufferPointer(rebasing: path.dropFirst()).copyBytes(from: name)
        }
        let length = MemoryLayout<sa_family_t>.size + 1 + name.count
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.bind(descriptor, $0, socklen_t(length)) == 0
            }
        }
    }
}
