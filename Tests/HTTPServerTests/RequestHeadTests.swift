import Testing

@testable import HTTPServer

struct RequestHeadTests {
    /// Lays a head out as libmicrohttpd finds it in its buffer.
    private func head(
        _ headers: [(String, String)],
        version: String = "HTTP/1.1",
        target: String = "/x",
        lineEnd: Int = 2,
        lastLineEnd: Int = 4
    ) -> RequestHead {
        var place = 0
        func part(_ text: String, after gap: Int) -> RequestHead.Part {
            let part = RequestHead.Part(text: text, offset: place + gap, count: text.utf8.count)
            place = part.end
            return part
        }
        let line = (part("POST", after: 0), part(target, after: 1), part(version, after: 1))
        let fields = headers.map { (name: part($0.0, after: lineEnd), value: part($0.1, after: 2)) }
        return RequestHead(
            method: line.0,
            target: line.1,
            version: line.2,
            headers: fields,
            size: place + lastLineEnd
        )
    }

    @Test(
        arguments: [
            [], [("Host", "a"), ("Content-Length", "5")], [("Host", "a"), ("transfer-encoding", "Chunked")],
            [("Host", "a"), ("X-Empty", ""), ("X", "tab\there ünï")],
        ] as [[(String, String)]]
    )
    func `a plain head is in order`(headers: [(String, String)]) {
        #expect(head(headers).fault == nil)
    }

    @Test(
        arguments: [
            ([("Content-Length", "5"), ("Transfer-Encoding", "chunked")], RequestHead.Fault.framing),
            ([("Content-Length", "5"), ("Content-Length", "5")], .framing),
            ([("Content-Length", "5"), ("content-length", "6")], .framing),
            ([("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "identity")], .framing),
            ([("Transfer-Encoding", "chunked, identity")], .framing),
            ([("Transfer-Encoding", "identity")], .framing),
            ([("Transfer-Encoding", "xchunked")], .framing), ([("Transfer-Encoding", "chunked ")], .framing),
            ([("Transfer-Encoding", "")], .framing), ([("Content-Length", "+5")], .framing),
            ([("Content-Length", "-1")], .framing), ([("Content-Length", "5, 5")], .framing),
            ([("Content-Length", "0x5")], .framing), ([("Content-Length", "")], .framing),
            ([("Content-Length", "99999999999999999999")], .framing),
            ([("Transfer-Encoding ", "chunked")], .headerName), ([("X\tY", "1")], .headerName),
            ([("", "1")], .headerName),
            ([("X", "a\u{b}b")], .headerValue), ([("X", "a\rb")], .headerValue),
            ([("X", "a\u{7f}")], .headerValue),
            ([("Host", "a"), ("Host", "b")], .host),
        ] as [([(String, String)], RequestHead.Fault)]
    )
    func `a head that can be read in two ways is at fault`(
        headers: [(String, String)],
        fault: RequestHead.Fault
    ) {
        #expect(head(headers).fault == fault)
    }

    @Test func `chunks are for version 1_1 only`() {
        #expect(head([("Transfer-Encoding", "chunked")], version: "HTTP/1.0").fault == .framing)
    }

    @Test func `lines must end in CR LF`() {
        #expect(head([("A", "b")], lineEnd: 1).fault == .lineEnds)
        #expect(head([("A", "b")], lastLineEnd: 3).fault == .lineEnds)
        #expect(head([("A", "b")], lastLineEnd: 2).fault == .lineEnds)
    }

    @Test(arguments: ["/a\u{1}", "/ü", "/a\tb"])
    func `a target has visible ASCII only`(target: String) {
        #expect(head([], target: target).fault == .target)
    }

    @Test(
        arguments: [([("Content-Length", "12")], 12), ([], 0), ([("Transfer-Encoding", "chunked")], nil)]
            as [([(String, String)], Int?)]
    )
    func `the length of the body is known from the head`(headers: [(String, String)], length: Int?) {
        #expect(head(headers).contentLength == length)
    }
}
