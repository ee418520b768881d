import Testing

@testable import Kafka

@Suite
struct HeadersTests {
    @Test
    func `headers keep order, repeats, nulls and raw names`() {
        let all = [
            Header("a", text: "1"), Header("b", nil), Header("a", []), Header(nameBytes: [0xff], value: [0]),
        ]
        let headers = Headers(all)
        #expect(Array(headers) == all)
        #expect(headers.count == 4)
        #expect(headers.text("a") == "1")
        #expect(headers.first("b") == Header("b", nil))
        #expect(headers.value("b") == nil)
        #expect(headers.contains("b"))
        #expect(headers.first("c") == nil)
        #expect(headers.withValue("a") { $0.count } == 1)
    }

    @Test
    func `text that is not UTF-8 is no text`() {
        let headers = Headers([Header("x", [0xc3, 0x28])])
        #expect(headers.text("x") == nil)
        #expect(headers.value("x") == [0xc3, 0x28])
    }

    @Test
    func `replacing leaves one of a name and the others in order`() {
        var headers = Headers([Header("a", text: "1"), Header("b", text: "2"), Header("a", text: "3")])
        headers.replace("a", Array("4".utf8))
        #expect(Array(headers) == [Header("b", text: "2"), Header("a", text: "4")])
        headers.remove("nothing")
        #expect(headers.count == 2)
    }

    @Test
    func `emptying keeps the memory, so that a lane can reuse it`() {
        var headers = Headers()
        let value: [UInt8] = [1, 2, 3]
        for _ in 0..<3 {
            headers.append("name", value.span)
            headers.append("other", value)
            headers.append("text", text: "abc")
            #expect(Array(headers).map(\.value) == [value, value, Array("abc".utf8)])
            let capacity = headers.storage.capacity
            headers.removeAll()
            #expect(headers.isEmpty)
            #expect(Array(headers).isEmpty)
            #expect(headers.storage.capacity == capacity)
        }
    }

    @Test(
        arguments: [
            (Duration.zero, 0), (.milliseconds(1), 1), (.microseconds(1), 1), (.seconds(-5), 0),
            (.seconds(3_000_000_000), Int32.max), (.milliseconds(1500), 1500),
        ] as [(Duration, Int32)]
    )
    func `a duration becomes milliseconds without trapping`(duration: Duration, milliseconds: Int32) {
        #expect(duration.milliseconds == milliseconds)
    }
}
