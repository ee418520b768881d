import Testing

@testable import Push

struct TimeTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1), ("1969-12-31T23:59:59.999Z", -1),
            ("2024-02-29T12:34:56.789Z", 1_709_210_096_789),
            ("2024-02-29T13:34:56.789+01:00", 1_709_210_096_789),
            ("2024-02-29t12:34:56.789z", 1_709_210_096_789),
            ("2024-02-29T12:34:56.789999999Z", 1_709_210_096_789),
            ("2024-02-29T12:04:56.7-00:30", 1_709_210_096_700), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("2017-01-01T00:59:60+01:00", 1_483_228_800_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000), ("2000-02-29T00:00:00Z", 951_782_400_000),
        ]
    )
    func `RFC 3339 reads to the millisecond`(text: String, milliseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(
        arguments: [
            "", "2024-02-29", "2024-02-29T12:34:56", "2024-02-29 12:34:56Z", "2023-02-29T12:34:56Z",
            "2100-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-04-31T00:00:00Z",
            "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z", "2024-01-01T12:30:60Z",
            "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00.1234567890Z",
            "2024-01-01T00:00:00+0100",
            "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+01:60", "2024-01-01T00:00:00Z ",
            "2024-01-01T00:00:00ZZ",
            "2024-1-01T00:00:00Z", "+2024-01-01T00:00:0Z", "2024-01-01T00:00:00.5", "２024-01-01T00:00:00Z",
        ]
    )
    func `anything else is no timestamp`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: [
        0, 1, -1, 1_709_210_096_789, -62_167_219_200_000, 253_402_300_799_999, 951_782_399_999, -86_400_000,
    ])
    func `a timestamp that is written reads as itself`(milliseconds: Int64) {
        let moment = Timestamp(milliseconds: milliseconds)
        #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
    }

    @Test func `moments far away print and add without overflow`() {
        #expect(Timestamp(milliseconds: .max).rfc3339 == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).rfc3339 == "0000-01-01T00:00:00.000Z")
        #expect(Timestamp(milliseconds: .max).adding(.seconds(1)).milliseconds == .max)
        #expect(Timestamp(milliseconds: .min).adding(.seconds(-1)).milliseconds == .min)
        #expect(Timestamp(seconds: .max).milliseconds == .max)
        #expect(
            Timestamp(milliseconds: .min).since(Timestamp(milliseconds: .max)) == .milliseconds(Int64.min)
        )
        #expect(Timestamp(milliseconds: -1).seconds == -1)
        #expect(Timestamp(milliseconds: 1999).seconds == 1)
    }

    private static let now = Timestamp(seconds: 1_700_000_000)

    @Test(
        arguments: [
            ("120", 1_700_000_120), (" 0 ", 1_700_000_000), ("7200", 1_700_007_200),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed, 15 Nov 2023 00:00:00 GMT", 1_700_006_400),
        ]
    )
    func `Retry-After is seconds or one of three dates`(text: String, seconds: Int64) {
        #expect(RetryAfter.read(text, now: Self.now) == Timestamp(seconds: seconds))
    }

    @Test(
        arguments: [
            "", " ", "-1", "1.5", "soon", "06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Feb 2023 00:00:00 GMT", "٣",
        ]
    )
    func `any other Retry-After says nothing`(text: String) {
        #expect(RetryAfter.read(text, now: Self.now) == nil)
    }

    @Test func `an absurd Retry-After means never and does not trap`() throws {
        let digits = String(repeating: "9", count: 400)
        #expect(try #require(RetryAfter.read(digits, now: Self.now)) > Timestamp(seconds: 4_000_000_000))
    }
}
