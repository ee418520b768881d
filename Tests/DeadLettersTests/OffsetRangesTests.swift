import Testing

@testable import DeadLetters

struct OffsetRangesTests {
    @Test func `offsets in a row are one range, whatever the order`() {
        var forwards = OffsetRanges()
        for offset in Int64(5)..<105 { forwards.insert(offset) }
        #expect(forwards.ranges == [5..<105])
        var backwards = OffsetRanges()
        for offset in (Int64(5)..<105).reversed() { backwards.insert(offset) }
        #expect(backwards == forwards)
        var mixed = OffsetRanges()
        for offset in Int64(5)..<105 where offset % 2 == 0 { mixed.insert(offset) }
        #expect(mixed.ranges.count == 50)
        for offset in Int64(5)..<105 where offset % 2 == 1 { mixed.insert(offset) }
        #expect(mixed == forwards)
        mixed.insert(50)
        #expect(mixed == forwards && mixed.count == 100)
    }

    @Test func `membership is right at every edge`() {
        var ranges = OffsetRanges()
        for offset: Int64 in [3, 4, 5, 9, 20, 21] { ranges.insert(offset) }
        let inside = (Int64(0)..<30).filter { ranges.contains($0) }
        #expect(inside == [3, 4, 5, 9, 20, 21])
        #expect(!OffsetRanges().contains(0))
    }

    @Test(arguments: ["{}", "{[0,1)}", "{[0,5),[7,8),[10,9223372036854775807)}"])
    func `PostgreSQL's text comes back as it was`(text: String) {
        #expect(OffsetRanges(text: text)?.text == text)
    }

    @Test(arguments: ["", "{", "[1,2)", "{[1,2),[2,3)}", "{[5,1)}", "{[,5)}", "{[1,)}", "{[a,b)}"])
    func `anything else is no set of offsets`(text: String) {
        #expect(OffsetRanges(text: text) == nil)
    }
}
