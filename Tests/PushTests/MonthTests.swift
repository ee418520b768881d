import Testing

@testable import Push

struct MonthTests {
    @Test(arguments: ["2000-01", "2024-11", "2099-12", "2024-02"])
    func `a month reads and prints as yyyy-MM`(text: String) throws {
        #expect(try #require(Month(text)).description == text)
    }

    @Test(
        arguments: [
            "", "2024", "2024-1", "2024-00", "2024-13", "24-01", "2024-011", " 2024-01", "2024-01 ",
            "2024/01", "2024-0a",
            "+024-01", "0001-01", "1999-12", "2100-01", "9999-12", "2024-1١", "２０２４-01", "2024‐01",
        ]
    )
    func `R8 anything but a month near us is refused`(text: String) {
        #expect(Month(text) == nil)
    }

    @Test(
        arguments: [
            ("2024-12-30T12:00:00Z", "2024-12"), ("2027-01-01T00:00:00Z", "2027-01"),
            ("2021-01-03T00:00:00Z", "2021-01"),
            ("2024-12-31T23:59:59.999Z", "2024-12"), ("2020-02-29T12:00:00Z", "2020-02"),
            ("1969-12-31T23:59:59Z", "1969-12"),
        ]
    )
    func `R1 the month is the calendar's, not the week-year's`(moment: String, month: String) throws {
        #expect(Month(of: try #require(Timestamp(rfc3339: moment))).description == month)
    }

    @Test func `a zone ahead of UTC is in the next month first`() throws {
        let moment = try #require(Timestamp(rfc3339: "2024-10-31T23:30:00Z"))
        #expect(Month(of: moment).description == "2024-10")
        #expect(Month(of: moment, utcOffset: 3600).description == "2024-11")
        #expect(Month(of: moment, utcOffset: -3600).description == "2024-10")
    }

    @Test func `arithmetic crosses years and stops at the ends`() throws {
        let month = try #require(Month("2023-11"))
        #expect((month + 2).description == "2024-01")
        #expect((month - 11).description == "2022-12")
        #expect(try #require(Month("2024-12")) - month == 13)
        #expect((month + .max).description == "9999-12")
        #expect((month - .max).description == "0000-01")
        #expect((month + .min).description == "0000-01")
        #expect((month - .min).description == "9999-12")
    }

    @Test func `the database's form is months since year 0`() throws {
        let month = try #require(Month("2023-11"))
        #expect(month.ordinal == 2023 * 12 + 10)
        #expect(Month(ordinal: month.ordinal) == month)
        for ordinal: Int32 in [.min, -1, 0, 2000 * 12 - 1, 2100 * 12, .max] {
            #expect(Month(ordinal: ordinal) == nil)
        }
        #expect(Month(ordinal: 2000 * 12)?.description == "2000-01")
        #expect(Month(ordinal: 2099 * 12 + 11)?.description == "2099-12")
    }

    @Test func `months are ordered and printed without allocating text`() throws {
        let month = try #require(Month("2024-01"))
        #expect(month < month + 1)
        let ascii = month.ascii
        #expect(ascii.indices.map { ascii[$0] } == Array("2024-01".utf8))
    }
}
