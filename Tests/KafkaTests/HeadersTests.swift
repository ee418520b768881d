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
            let capacity = headers.storage.count
            headers.removeAll()
            #expect(headers.isEmpty)
            #expect(Array(headers).isEmpty)
            #expect(headers.storage.count == capacity)
        }
    }

    @Test
    func `what several records share is written once`() {
        var headers = Headers()
        headers.append("shared", [1])
        let mark = headers.mark
        for value in [2, 3] as [UInt8] {
            headers.removeAll(after: mark)
            headers.append("own", [value])
            #expect(Array(headers) == [Header("shared", [1]), Header("own", [value])])
        }
        headers.removeAll()
        headers.removeAll(after: mark)
        #expect(headers.isEmpty)
    }

    @Test
    func `a record shows its parts in place, and its headers can go on without it`() {
        let record = Record(
            topic: "t",
            partition: 0,
            offset: 7,
            timestamp: nil,
            key: Array("key".utf8),
            value: Array("value".utf8),
            headers: Headers([Header("a", text: "1")])
        )
        #expect(record.key == Array("key".utf8))
        #expect(record.withKey { $0.count } == 3)
        #expect(record.withValue { $0[0] } == UInt8(ascii: "v"))
        #expect(record.valueCount == 5)
        var bytes: [UInt8] = [0]
        record.appendValue(to: &bytes)
        #expect(bytes == [0] + Array("value".utf8))
        var headers = record.headers
        headers.append("b", nil)
        #expect(Array(headers) == [Header("a", text: "1"), Header("b", nil)])
        #expect(headers != record.headers)
        #expect(record.headers == Headers([Header("a", text: "1")]))
        let tombstone = Record(topic: "t", partition: 0, offset: 8, timestamp: nil, key: [], value: nil)
        #expect(tombstone.key == [])
        #expect(tombstone.isTombstone)
        #expect(tombstone.withValue { $0.count } == nil)
    }

    @Test func `all headers can be seen in place, null, empty and unreadable ones too`() {
        let headers = [Header("a", text: "1"), Header("b", nil), Header(nameBytes: [0xff], value: [])]
        let record = Record(
            topic: "t",
            partition: 0,
            offset: 0,
            timestamp: nil,
            key: Array("key".utf8),
            value: Array("value".utf8),
            headers: Headers(headers)
        )
        var seen: [Header] = []
        var copied = Headers()
        record.headers.forEachLent { name, value, isNull in
            seen.append(Header(nameBytes: copy(name), value: isNull ? nil : copy(value)))
            copied.append(name: name, value, isNull: isNull)
        }
        #expect(seen == headers)
        #expect(copied == Headers(headers))
        #expect(record.headers.byteCount == Headers(headers).byteCount)
    }

    private func copy(_ span: Span<UInt8>) -> [UInt8] { span.indices.map { span[$0] } }

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
