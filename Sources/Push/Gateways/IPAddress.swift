/// An address that stands in a URL in place of a name.
enum IPAddress: Equatable {
    case v4(InlineAddress<4>)
    case v6(InlineAddress<16>)

    /// Whether it is an address that strangers on the internet could reach: not loopback, private, link-local, CGNAT,
    /// multicast, reserved, documentation, nor one of these wrapped into IPv6.
    ///
    /// Source: the IANA special-purpose address registries (RFC 6890).
    var isPublic: Bool {
        switch self {
        case .v4(let address): Self.isPublic(address[0], address[1], address[2])
        case .v6(let address): Self.isPublic(address)
        }
    }

    private static func isPublic(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
        switch (first, second, third) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
        default: true
        }
    }

    private static func isPublic(_ address: InlineAddress<16>) -> Bool {
        // Global unicast is 2000::/3; everything else is loopback, mapped, unique local, link-local, multicast or
        // unassigned.
        guard address[0] & 0xE0 == 0x20 else { return false }
        switch (address[0], address[1], address[2], address[3]) {
        case (0x20, 0x01, 0x0D, 0xB8): return false
        case (0x20, 0x01, 0x00...0x01, _): return false
        case (0x20, 0x02, _, _): return false
        case (0x3F, 0xFF, 0x00...0x0F, _): return false
        default: return true
        }
    }
}

/// The bytes of an address, comparable.
struct InlineAddress<let count: Int>: Equatable {
    private var bytes = InlineArray<count, UInt8>(repeating: 0)

    subscript(index: Int) -> UInt8 {
        get { bytes[index] }
        set { bytes[index] = newValue }
    }

    static func == (left: Self, right: Self) -> Bool {
        for index in left.bytes.indices where left.bytes[index] != right.bytes[index] { return false }
        return true
    }
}
