import HTTPClient
import Testing

struct AddressKindTests {
    @Test(arguments: [
        ("8.8.8.8", AddressKind.global), ("1.1.1.1", .global), ("172.15.255.255", .global),
        ("172.32.0.0", .global),
        ("100.63.255.255", .global), ("100.128.0.0", .global), ("192.0.1.0", .global),
        ("223.255.255.255", .global),
        ("0.0.0.0", .unspecified), ("0.1.2.3", .unspecified),
        ("127.0.0.1", .loopback), ("127.255.255.255", .loopback),
        ("10.0.0.0", .privateUse), ("10.255.255.255", .privateUse), ("172.16.0.1", .privateUse),
        ("172.31.255.255", .privateUse), ("192.168.1.1", .privateUse),
        ("100.64.0.0", .sharedCarrier), ("100.127.255.255", .sharedCarrier),
        ("169.254.169.254", .linkLocal), ("224.0.0.1", .multicast), ("239.255.255.255", .multicast),
        ("255.255.255.255", .broadcast), ("240.0.0.1", .reserved), ("255.255.255.254", .reserved),
        ("192.0.2.1", .documentation), ("198.51.100.7", .documentation), ("203.0.113.9", .documentation),
        ("192.0.0.8", .reserved), ("192.88.99.1", .reserved), ("198.18.0.1", .reserved),
        ("198.19.255.255", .reserved),
    ])
    func `an IPv4 address is what its block is for`(text: String, kind: AddressKind) throws {
        #expect(AddressKind(of: try #require(IPAddress(text))) == kind)
    }

    @Test(arguments: [
        ("2606:4700::1111", AddressKind.global), ("2a00:1450:4001::1", .global), ("2001:200::1", .global),
        ("::", .unspecified), ("::1", .loopback),
        ("fc00::1", .uniqueLocal), ("fdff:ffff::1", .uniqueLocal),
        ("fe80::1", .linkLocal), ("febf::1", .linkLocal), ("fec0::1", .privateUse), ("ff02::1", .multicast),
        ("2001:db8::1", .documentation), ("3fff:0:1::", .documentation),
        ("2001::1", .reserved), ("2001:2::1", .reserved), ("100::1", .reserved), ("64:ff9b:1::1", .reserved),
        ("4000::1", .reserved), ("::2", .reserved), ("::7f00:1", .reserved),
    ])
    func `an IPv6 address is what its block is for`(text: String, kind: AddressKind) throws {
        #expect(AddressKind(of: try #require(IPAddress(text))) == kind)
    }

    @Test(arguments: [
        ("::ffff:10.0.0.1", AddressKind.privateUse), ("::ffff:127.0.0.1", .loopback),
        ("::ffff:8.8.8.8", .global),
        ("64:ff9b::10.0.0.1", .privateUse), ("64:ff9b::169.254.169.254", .linkLocal),
        ("64:ff9b::8.8.8.8", .global),
        ("2002:0a00:0001::1", .privateUse), ("2002:7f00:0001::", .loopback), ("2002:0808:0808::1", .global),
    ])
    func `an IPv6 address that carries an IPv4 one is what the carried one is`(
        text: String,
        kind: AddressKind
    ) throws {
        #expect(AddressKind(of: try #require(IPAddress(text))) == kind)
    }

    @Test(arguments: [
        "", "localhost", "10.0.0.1:80", "[::1]", "fe80::1%eth0", "010.0.0.1", "1.2.3", "1.2.3.4 ",
    ])
    func `what is no plain address is not taken for one`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: AddressKind.allCases)
    func `only global addresses are permitted, and private ones where that is allowed`(kind: AddressKind) {
        let openedByAllowance: Set<AddressKind> = [.loopback, .privateUse, .uniqueLocal, .sharedCarrier]
        #expect(kind.isPermitted(allowsPrivate: false) == (kind == .global))
        #expect(
            kind.isPermitted(allowsPrivate: true) == (kind == .global || openedByAllowance.contains(kind))
        )
    }
}
