import Testing

@testable import Settings

struct KindsTests {
    @Test(
        arguments: [
            ("500ms", 500), ("30s", 30_000), ("2m", 120_000), ("12h", 43_200_000), ("7d", 604_800_000),
            ("0s", 0),
        ] as [(String, Int?)] + [
            ("30", nil), ("", nil), ("s", nil), ("-1s", nil), ("1.5s", nil), ("30 s", nil),
            ("99999999999999999999s", nil),
            ("9223372036854775807d", nil), ("30S", nil),
        ]
    )
    func `a duration is a whole number with its unit`(text: String, milliseconds: Int?) {
        #expect(DurationText.parse(text) == milliseconds.map { .milliseconds($0) })
    }

    @Test(arguments: [
        ("0s", 0), ("1ms", 1), ("1500ms", 1500), ("2m", 120_000), ("36h", 129_600_000), ("2d", 172_800_000),
    ])
    func `a duration is shown in its shortest exact form`(text: String, milliseconds: Int) {
        #expect(DurationText.show(.milliseconds(milliseconds)) == text)
    }

    @Test(
        arguments: [("30s", [30]), ("30s,2m,2h", [30, 120, 7200]), ("1s,2s,3s,4s", [1, 2, 3, 4])]
            as [(String, [Int]?)] + [
                ("", nil), ("30s,", nil), ("2m,30s", nil), ("30s,30s", nil), ("0s,1s", nil), ("1s,25h", nil),
                ("1s;2s", nil), ("1s,2s,3s,4s,5s", nil),
            ]
    )
    func `several durations rise`(text: String, seconds: [Int]?) {
        let kind = ValueKind<[Duration]>.risingDurations(in: .seconds(1) ... .seconds(86_400), upTo: 4)
        #expect(kind.parse(text) == seconds.map { $0.map { .seconds($0) } })
        if let seconds { #expect(kind.show(seconds.map { .seconds($0) }) == text) }
    }

    @Test(
        arguments: [
            ("256KB", 262_144), ("1mb", 1_048_576), ("2GiB", 2_147_483_648), ("512", 512), ("512B", 512),
            ("0B", 0),
        ] as [(String, Int?)] + [
            ("KB", nil), ("1TB", nil), ("-1B", nil), ("9999999999999GB", nil), ("1 KB", nil),
        ]
    )
    func `a size is a whole number with a unit of 1024`(text: String, bytes: Int?) {
        let kind = ValueKind<ByteCount>.bytes(in: ByteCount(0)...ByteCount(.max))
        #expect(kind.parse(text)?.bytes == bytes)
    }

    @Test(arguments: [(262_144, "256KB"), (1, "1B"), (1025, "1025B"), (0, "0B"), (4 << 20, "4MB")])
    func `a size is shown in its shortest exact form`(bytes: Int, text: String) {
        #expect(ByteCount(bytes).description == text)
    }

    @Test(arguments: ["127.0.0.1:8080", "[::1]:0", "localhost:65535", "gateway.example:443"])
    func `an address reads and shows the same`(text: String) {
        #expect(Address(text)?.description == text)
    }

    @Test(arguments: [
        "", ":80", "host", "host:", "host:65536", "host:-1", "host:+1", "::1:80", "a b:80", "[]:80",
        "host:8o",
    ])
    func `what is no address is refused`(text: String) {
        #expect(Address(text) == nil)
    }

    @Test(arguments: [
        ("https://gateway.example", true), ("HTTPS://gateway.example:8443/", true),
        ("http://gateway.example", false),
        ("https://", false), ("https:///path", false), ("https://a b", false), ("https://a\n", false),
        ("", false),
    ])
    func `a URL has a scheme of the list and a host`(text: String, isAccepted: Bool) {
        #expect((ValueKind<String>.url(schemes: ["https"]).parse(text) != nil) == isAccepted)
    }

    @Test(arguments: [
        ("lanse", "lanes"), ("lane", "lanes"), ("lnaes", "lanes"), ("liste", "listen"), ("x", nil),
        ("entirely", nil), ("", nil),
        ("boot", "bootstrap-servers"),
    ])
    func `the nearest word is suggested, and a far one is not`(word: String, nearest: String?) {
        #expect(Nearest.candidate(to: word, among: ["lanes", "listen", "bootstrap-servers"]) == nearest)
    }

    @Test(arguments: [
        ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ab", "", 2),
    ])
    func `slips are counted`(one: String, other: String, slips: Int) {
        #expect(Nearest.slips(Array(one.unicodeScalars), Array(other.unicodeScalars)) == slips)
    }
}
