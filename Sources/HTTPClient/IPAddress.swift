package import Glibc

/// An IP address as the resolver gave it, without port and scope.
///
/// IPv4 is 32 bits, IPv6 128 bits, both in the order in which they are written.
package enum IPAddress: Sendable, Hashable {
    case v4(UInt32)
    case v6(UInt128)

    /// Reads the usual text forms (`192.0.2.1`, `2001:db8::1`).
    ///
    /// - Returns: nil when the text is no address; zones (`%eth0`), ports and brackets are not accepted.
    ///
    /// The corresponding C function is `inet_pton`.
    package init?(_ text: String) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if unsafe inet_pton(AF_INET, text, &v4) == 1 {
            self = .v4(UInt32(bigEndian: v4.s_addr))
        } else if unsafe inet_pton(AF_INET6, text, &v6) == 1 {
            self = .v6(IPAddress.bits(of: v6))
        } else {
            return nil
        }
    }

    /// Takes the address out of what a resolver returned.
    ///
    /// - Returns: nil for a family that is neither IPv4 nor IPv6, and for a structure that is too short for its family.
    package init?(_ address: UnsafePointer<sockaddr>, length: Int) {
        let raw = unsafe UnsafeRawPointer(address)
        guard length >= MemoryLayout<sa_family_t>.size else { return nil }
        switch unsafe Int32(raw.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            let v4 = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            self = .v4(UInt32(bigEndian: v4.sin_addr.s_addr))
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let v6 = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            self = .v6(IPAddress.bits(of: v6.sin6_addr))
        default:
            return nil
        }
    }

    private static func bits(of address: in6_addr) -> UInt128 {
        unsafe withUnsafeBytes(of: address) { bytes in
            var value: UInt128 = 0
            for index in 0..<16 { unsafe value = value << 8 | UInt128(bytes[index]) }
            return value
        }
    }
}
