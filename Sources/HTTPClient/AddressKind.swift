/// What an IP address is for, as far as it matters to a client that must not be sent to places inside.
///
/// A gateway's address comes from a registration, its name is resolved by somebody else's server: without this check at
/// connect time, a name could lead our own requests to the metadata service, the database or the broker.
/// An IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4) is what the carried address is.
///
/// Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries; RFC 6890, 6052, 3056, 4193, 6598, 9637.
package enum AddressKind: Sendable, Hashable, CaseIterable {
    /// Anywhere on the public Internet.
    case global
    /// `0.0.0.0/8`, `::`. Linux connects to itself for it.
    case unspecified
    /// `127.0.0.0/8`, `::1`.
    case loopback
    /// RFC 1918, and the deprecated site-local `fec0::/10`.
    case privateUse
    /// `fc00::/7` (RFC 4193).
    case uniqueLocal
    /// `100.64.0.0/10`, between carriers and their customers (RFC 6598).
    case sharedCarrier
    /// `169.254.0.0/16` (where clouds keep their metadata service), `fe80::/10`.
    case linkLocal
    case multicast
    case broadcast
    /// Examples in books: RFC 5737, 3849, 9637.
    case documentation
    /// Everything else that no server on the Internet has: protocol assignments, benchmarking, Teredo, unassigned.
    case reserved

    /// Whether a request may be sent there.
    ///
    /// `allowsPrivate` opens loopback, private, unique-local and carrier addresses, for gateways in one's own network. Link-local
    /// stays closed even then: nobody runs a gateway there, but clouds give out credentials there.
    package func isPermitted(allowsPrivate: Bool) -> Bool {
        switch self {
        case .global: true
        case .loopback, .privateUse, .uniqueLocal, .sharedCarrier: allowsPrivate
        case .unspecified, .linkLocal, .multicast, .broadcast, .documentation, .reserved: false
        }
    }

    package init(of address: IPAddress) {
        switch address {
        case .v4(let bits): self.init(v4: bits)
        case .v6(let bits): self.init(v6: bits)
        }
    }

    private init(v4 bits: UInt32) {
        self =
            AddressKind.v4Blocks.first { bits >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }?.kind
            ?? .global
    }

    private init(v6 bits: UInt128) {
        if let carried = AddressKind.carriedV4(in: bits) {
            self.init(v4: carried)
            return
        }
        let block = AddressKind.v6Blocks.first {
            bits >> (128 - UInt128($0.length)) == $0.prefix >> (128 - UInt128($0.length))
        }
        self = block?.kind ?? .reserved
    }

    /// The IPv4 address inside `::ffff:0:0/96` (mapped), `64:ff9b::/96` (NAT64) or `2002::/16` (6to4).
    private static func carriedV4(in bits: UInt128) -> UInt32? {
        switch bits >> 32 {
        case 0xffff, 0x0064_ff9b_0000_0000_0000_0000: UInt32(truncatingIfNeeded: bits)
        default: bits >> 112 == 0x2002 ? UInt32(truncatingIfNeeded: bits >> 80) : nil
        }
    }
}

extension AddressKind {
    private struct Block<Bits: Sendable>: Sendable {
        let prefix: Bits
        let length: Int
        let kind: AddressKind

        init(_ prefix: Bits, _ length: Int, _ kind: AddressKind) {
            self.prefix = prefix
            self.length = length
            self.kind = kind
        }
    }

    /// The first that matches counts; what matches none is global.
    private static let v4Blocks: [Block<UInt32>] = [
        Block(0x0000_0000, 8, .unspecified),
        Block(0x0a00_0000, 8, .privateUse),  // 10.0.0.0
        Block(0x6440_0000, 10, .sharedCarrier),  // 100.64.0.0
        Block(0x7f00_0000, 8, .loopback),  // 127.0.0.0
        Block(0xa9fe_0000, 16, .linkLocal),  // 169.254.0.0
        Block(0xac10_0000, 12, .privateUse),  // 172.16.0.0
        Block(0xc000_0000, 24, .reserved),  // 192.0.0.0, protocol assignments
        Block(0xc000_0200, 24, .documentation),  // 192.0.2.0
        Block(0xc058_6300, 24, .reserved),  // 192.88.99.0, former 6to4 relays
        Block(0xc0a8_0000, 16, .privateUse),  // 192.168.0.0
        Block(0xc612_0000, 15, .reserved),  // 198.18.0.0, benchmarking
        Block(0xc633_6400, 24, .documentation),  // 198.51.100.0
        Block(0xcb00_7100, 24, .documentation),  // 203.0.113.0
        Block(0xe000_0000, 4, .multicast),  // 224.0.0.0
        Block(0xffff_ffff, 32, .broadcast),
        Block(0xf000_0000, 4, .reserved),  // 240.0.0.0
    ]

    /// The first that matches counts; what matches none is reserved, because only `2000::/3` is given out.
    private static let v6Blocks: [Block<UInt128>] = [
        Block(0, 128, .unspecified),
        Block(1, 128, .loopback),
        Block(0x2001_0000 << 96, 23, .reserved),  // protocol assignments: Teredo, benchmarking, ORCHID …
        Block(0x2001_0db8 << 96, 32, .documentation),
        Block(0x3fff_0000 << 96, 20, .documentation),
        Block(0x2000_0000 << 96, 3, .global),
        Block(0xfc00_0000 << 96, 7, .uniqueLocal),
        Block(0xfe80_0000 << 96, 10, .linkLocal),
        Block(0xfec0_0000 << 96, 10, .privateUse),
        Block(0xff00_0000 << 96, 8, .multicast),
    ]
}
