import Testing

@testable import Push

struct GatewayURLTests {
    @Test(
        arguments: [
            ("https://push.example.de", "https://push.example.de"),
            ("HTTPS://Push.Example.DE:443", "https://push.example.de"),
            ("https://a.de:8443", "https://a.de:8443"), ("http://a.de:80", "http://a.de"),
            ("http://a.de:443", "http://a.de:443"),
            ("https://10.0.0.1", "https://10.0.0.1"),
            ("https://[2001:DB8:0:0:0:0:0:1]", "https://[2001:db8::1]"),
            ("https://[::ffff:10.0.0.1]:8443", "https://[::ffff:a00:1]:8443"),
            ("https://[::]", "https://[::]"),
            ("https://[1:0:0:2:0:0:0:3]", "https://[1:0:0:2::3]"), ("https://[fe80::1]", "https://[fe80::1]"),
            ("https://[1:0:2:3:4:5:6:7]", "https://[1:0:2:3:4:5:6:7]"),
            ("https://xn--bcher-kva.de", "https://xn--bcher-kva.de"),
            ("https://a.de:08443", "https://a.de:8443"), ("https://localhost", "https://localhost"),
        ]
    )
    func `an origin has one text`(text: String, canonical: String) throws {
        #expect(try GatewayOrigin(text).text == canonical)
        #expect(try GatewayOrigin(canonical).text == canonical)
    }

    @Test(
        arguments: [
            ("ftp://a.de", GatewayURLError.scheme), ("a.de", .scheme), ("https:a.de", .scheme),
            ("https:/a.de", .scheme),
            ("", .scheme), ("https://", .host), ("https://u@a.de", .userInfo),
            ("https://u:p@a.de", .userInfo),
            ("https://a.de:", .port), ("https://a.de:0", .port), ("https://a.de:65536", .port),
            ("https://a.de:+1", .port),
            ("https://a.de:1x", .port), ("https://a..de", .host), ("https://a.de.", .host),
            ("https://-a.de", .host),
            ("https://a_b.de", .host), ("https://bücher.de", .host), ("https://a b.de", .host),
            ("https://127.1", .host),
            ("https://2130706433", .host), ("https://0x7f.0.0.1", .host), ("https://0x7f000001", .host),
            ("https://010.0.0.1", .host), ("https://256.0.0.1", .host), ("https://1.2.3.4.5", .host),
            ("https://[::1", .host),
            ("https://[::1]x", .host), ("https://::1", .host), ("https://[1:2:3]", .host),
            ("https://[::1::2]", .host),
            ("https://[fe80::1%25eth0]", .host), ("https://[1:2:3:4:5:6:7:8:9]", .host),
            ("https://a%2ede", .host),
            ("https://a.de/", .host),
        ]
    )
    func `what is no plain origin is refused`(text: String, error: GatewayURLError) {
        #expect(throws: error) { try GatewayOrigin(text) }
    }

    @Test func `names have their limits`() throws {
        let label = String(repeating: "a", count: 63)
        _ = try GatewayOrigin("https://\(label).de")
        #expect(throws: GatewayURLError.host) { try GatewayOrigin("https://\(label)a.de") }
        let name = Array(repeating: String(repeating: "a", count: 49), count: 5).joined(separator: ".")
        _ = try GatewayOrigin("https://\(name).def")
        #expect(throws: GatewayURLError.host) { try GatewayOrigin("https://\(name).defg") }
        let path = String(repeating: "a", count: GatewayURL.maximumLength - "https://a.de/".utf8.count)
        _ = try GatewayURL("https://a.de/\(path)")
        #expect(throws: GatewayURLError.tooLong) { try GatewayURL("https://a.de/a\(path)") }
    }

    @Test(
        arguments: [
            "https://a.de", "https://a.de//push/v1/", "https://a.de/./push/v1/", "https://a.de/../push/v1/",
            "https://a.de/x/..", "https://a.de/%2e%2e/push/v1/", "https://a.de/push/v1%2F",
            "https://a.de/a\\b/push/v1/",
            "https://a.de/ü/push/v1/", "https://a.de/ /push/v1/", "https://a.de/\u{0}/push/v1/",
        ]
    )
    func `a path that could mean another is refused`(text: String) {
        #expect(throws: GatewayURLError.path) { try GatewayURL(text) }
    }

    @Test(arguments: ["https://a.de/push/v1/?x=1", "https://a.de/push/v1/#x", "https://a.de?x=/push/v1/"])
    func `a query or fragment is refused`(text: String) {
        #expect(throws: GatewayURLError.queryOrFragment) { try GatewayURL(text) }
    }

    @Test(
        arguments: [
            ("https://a.de/push/v1/", true, false), ("https://a.de/base/push/v1/", true, false),
            ("https://a.de/_matrix/push/v1/notify", false, true),
            ("https://a.de/ios/_matrix/push/v1/notify", false, true),
            ("https://a.de/push/v1/notify", false, true), ("https://a.de/push/v1", false, false),
            ("https://a.de/", false, false),
            ("https://a.de/xpush/v1/", false, false), ("https://a.de/push/v1/notify/", false, false),
        ]
    )
    func `a URL fits a dialect by its path`(text: String, gematik: Bool, concept: Bool) throws {
        let url = try GatewayURL(text)
        #expect(url.fits(.gematik12) == gematik)
        #expect(url.fits(.concept2024) == concept)
    }

    @Test func `endpoints are made of the registered URL`() throws {
        let base = try GatewayURL("https://A.de:443/x/push/v1/")
        #expect(base.endpoint(.gematik12Encrypted) == "https://a.de/x/push/v1/notifyEncrypted/batch")
        #expect(base.endpoint(.gematik12Plain) == "https://a.de/x/push/v1/notify/batch")
        let seed = try GatewayURL("https://a.de/_matrix/push/v1/notify")
        #expect(seed.endpoint(.concept2024) == seed.text)
    }

    @Test(
        arguments: [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
            "100.64.0.1", "0.0.0.0",
            "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "localhost", "a.localhost", "[::1]",
            "[::]",
            "[::ffff:8.8.8.8]", "[fe80::1]", "[fc00::1]", "[ff02::1]", "[2001:db8::1]", "[64:ff9b::a00:1]",
            "[2002:a00:1::]",
        ]
    )
    func `M3 addresses inside are known as such`(host: String) throws {
        #expect(try GatewayOrigin("https://\(host)").isPrivate)
    }

    @Test(arguments: ["8.8.8.8", "172.32.0.1", "100.128.0.1", "a.de", "localhost.de", "[2a00:1450:4001::1]"])
    func `addresses outside are not`(host: String) throws {
        #expect(try !GatewayOrigin("https://\(host)").isPrivate)
    }

    @Test func `an entry that could not be used is not listed`() throws {
        let secure = try GatewayOrigin("https://a.de")
        #expect(GatewayEntry(origin: secure).faults.isEmpty)
        let loopback = try GatewayOrigin("http://127.0.0.1:8080")
        #expect(GatewayEntry(origin: loopback).faults.count == 2)
        #expect(GatewayEntry(origin: loopback, allowsInsecure: true).faults.count == 2)
        #expect(GatewayEntry(origin: loopback, allowsPrivate: true, allowsInsecure: true).faults.isEmpty)
        #expect(GatewayEntry(origin: secure, clientKeyFile: "/k").faults.count == 1)
        #expect(GatewayEntry(origin: secure, confirmRejections: 0).faults.count == 1)
        #expect(GatewayEntry(origin: secure, confirmRejections: 11).faults.count == 1)
    }
}
