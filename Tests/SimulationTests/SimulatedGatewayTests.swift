import HTTPClient
import JSON
import LocalServices
import Simulation
import Support
import Testing

struct SimulatedGatewayTests {
    @Test func `a batch is answered item by item and kept as it was sent`() throws {
        var harness = try GatewayHarness()
        let first = Sample.encrypted("key1", more: #","prio":"low","identifier":"x","counts":{"unread":1}"#)
        let answer = try harness.post(Sample.batch([Sample.item("a", first), Sample.item("b")]))
        #expect(answer.status == 200)
        #expect(
            answer.text == #"{"results":[{"id":"a","status":"success"},{"id":"b","status":"success"}],"#
                + #""summary":{"total":2,"successful":2,"failed":0,"partial":0}}"#
        )
        #expect(harness.received.all.map(\.id) == ["a", "b"])
        #expect(harness.received.all.first?.notification == Array(first.utf8))
        #expect(harness.received.all.first?.pushkeys == ["key1"])
        #expect(harness.gateway.counts == SimulatedGateway.Counts(requests: 1, items: 2))
    }

    @Test func `received items are in the file, one a line, before the answer`() throws {
        let folder = try TemporaryFolder(prefix: "posthorn-record")
        let path = "\(folder.path)/record.ndjson"
        var harness = try GatewayHarness(record: path)
        let spread = "{ \"prio\" : \"high\",\r\n\"devices\":[\n{\"app_id\":\"a\",\"pushkey\":\"ü\\n\"}]}"
        _ = try harness.post(Sample.batch([Sample.item("a"), Sample.item("b")]))
        _ = try harness.post(Sample.batch([Sample.item("c", spread)]), "/push/v1/notify/batch")
        let concept = #"{"month":"2024-11","ciphertext":"AAAA","devices":[{"app_id":"a","pushkey":"k"}]}"#
        _ = try harness.post(concept, "/_matrix/push/v1/notify")

        let lines = try #require(Files.read(path)).split(separator: 0x0a).map { try RecordLine(Array($0)) }
        #expect(lines.map(\.id) == ["a", "b", "c", nil])
        #expect(lines.map(\.batch) == [1, 1, 2, 3])
        #expect(lines[0].path == "/push/v1/notifyEncrypted/batch")
        #expect(lines[0].notification == Sample.encrypted())
        #expect(lines[2].notification == spread.replacing("\r\n", with: "  ").replacing("\n", with: " "))
        #expect(lines[3].notification == concept)
        #expect(
            lines.allSatisfy { $0.receivedAt.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil }
        )
    }

    @Test func `a record file is continued, not begun anew`() throws {
        let folder = try TemporaryFolder(prefix: "posthorn-record")
        let path = "\(folder.path)/record.ndjson"
        for id in ["a", "b"] {
            var harness = try GatewayHarness(record: path)
            _ = try harness.post(Sample.batch([Sample.item(id)]))
        }
        let lines = try #require(Files.read(path)).split(separator: 0x0a).map { try RecordLine(Array($0)) }
        #expect(lines.map(\.id) == ["a", "b"])
    }

    @Test func `items that cannot be recorded are not answered as received`() throws {
        var harness = try GatewayHarness(record: "/dev/full")
        #expect(try harness.post(Sample.batch([Sample.item("a")])).status == 500)
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"notifications":null}"#, #"{"notifications":{}}"#, #"{"notifications":[]}"#,
        #"{"notifications":[null]}"#, #"{"notifications":[{"id":"a"}]}"#,
        #"{"notifications":[{"notification":{}}]}"#,
        #"{"notifications":[{"id":7,"notification":{}}]}"#,
        #"{"notifications":[{"id":"","notification":{}}]}"#,
        #"{"notifications":[{"id":"a","notification":[]}]}"#, Sample.batch([Sample.item("a")]) + "x",
        Sample.batch([Sample.item(String(repeating: "x", count: 65))]),
    ])
    func `a broken envelope is refused as a whole`(body: String) throws {
        var harness = try GatewayHarness()
        let answer = try harness.post(body)
        #expect(answer.status == 400)
        #expect(answer.text == #"{"error":"Invalid data format"}"#)
        #expect(harness.received.all.isEmpty)
    }

    @Test(arguments: [1, 100, 101])
    func `a batch has 1 to 100 items`(count: Int) throws {
        var harness = try GatewayHarness()
        let notification = Sample.plain(["k"])
        let items = (0..<count).map { Sample.item("\($0)", notification) }
        let answer = try harness.post(Sample.batch(items), "/push/v1/notify/batch")
        if count <= 100 {
            #expect(
                answer.text.hasSuffix(
                    #""summary":{"total":\#(count),"successful":\#(count),"failed":0,"partial":0}}"#
                )
            )
        } else {
            #expect(answer.status == 400)
            #expect(
                answer.text
                    == #"{"error":"Batch size exceeds maximum limit","details":{"max_batch_size":100}}"#
            )
        }
    }

    @Test func `ids that come twice are told once each`() throws {
        var harness = try GatewayHarness()
        let answer = try harness.post(Sample.batch(["b", "a", "b", "c", "a", "b"].map { Sample.item($0) }))
        #expect(answer.status == 400)
        #expect(
            answer.text
                == #"{"error":"Duplicate notification IDs in batch","details":{"duplicate_ids":["b","a"]}}"#
        )
    }

    @Test func `of several faults the first in the documented order is told`() throws {
        var harness = try GatewayHarness()
        let small = Sample.plain(["k"])
        let large = Sample.plain(
            ["k"],
            priority: #""prio":"high","x":"\#(String(repeating: "x", count: 70_000))","#
        )
        func error(_ items: [String]) throws -> String {
            try harness.post(Sample.batch(items), "/push/v1/notify/batch").text
        }
        let tooMany = (0..<101).map { Sample.item($0 < 2 ? "same" : "\($0)", small) }
        #expect(try error(tooMany + [#"{"id":"x"}"#]).contains("Invalid data format"))
        #expect(try error(tooMany).contains("Batch size exceeds"))
        #expect(try error([Sample.item("a", small), Sample.item("a", large)]).contains("Duplicate"))
        #expect(
            try error([Sample.item("a", large)])
                == #"{"error":"Individual notification too large","details":{"max_notification_size_kb":64}}"#
        )
    }

    @Test func `a request of 256 KiB is taken, a longer one is not`() throws {
        var harness = try GatewayHarness()
        let body = Sample.batch([Sample.item("a")])
        #expect(
            try harness.post(body + String(repeating: " ", count: 262_144 - body.utf8.count)).status == 200
        )
        let answer = try harness.post(body + String(repeating: " ", count: 262_145 - body.utf8.count))
        #expect(answer.status == 413)
        #expect(
            answer.text
                == #"{"error":"Batch request payload is too large.","details":{"max_request_size_kb":256}}"#
        )
    }

    @Test(arguments: [
        Sample.encrypted(ciphertext: String(Sample.ciphertext.dropLast())), Sample.encrypted(ciphertext: ""),
        Sample.encrypted(ciphertext: String(repeating: "-", count: 1404)), Sample.encrypted(month: "2026-13"),
        Sample.encrypted(month: "2026-1"), Sample.encrypted(month: "2O26-01"), Sample.encrypted(""),
        Sample.encrypted(more: #","prio":"urgent""#), Sample.encrypted(more: #","counts":[]"#), "{}",
        Sample.encrypted().replacing(#""key_identifier":"k1","#, with: ""),
        Sample.encrypted().replacing(#""app_id":"com.example.app.apns","#, with: ""),
    ])
    func `a bad item fails alone`(notification: String) throws {
        var harness = try GatewayHarness()
        let answer = try harness.post(Sample.batch([Sample.item("bad", notification), Sample.item("good")]))
        #expect(answer.status == 200)
        #expect(answer.text.contains(#"{"id":"bad","status":"failed","error":"#))
        #expect(answer.text.contains(#"{"id":"good","status":"success"}"#))
        #expect(answer.text.hasSuffix(#""summary":{"total":2,"successful":1,"failed":1,"partial":0}}"#))
    }

    @Test func `single notifications are taken in both dialects`() throws {
        var harness = try GatewayHarness()
        let plain = #"{"notification":\#(Sample.plain(["k"], priority: ""))}"#
        #expect(try harness.post(plain, "/push/v1/notify").text == #"{"rejected":[]}"#)
        let concept = #"{"month":"2024-11","ciphertext":"AAAA","devices":[{"app_id":"a","pushkey":"k"}]}"#
        #expect(try harness.post(concept, "/push/v1/notify").text == #"{"status":"success"}"#)
        #expect(try harness.post(concept, "/_matrix/push/v1/notify").text == #"{"status":"success"}"#)
        #expect(
            harness.received.all.map(\.notification)
                == [Sample.plain(["k"], priority: ""), concept, concept].map { Array($0.utf8) }
        )
        #expect(harness.received.all.allSatisfy { $0.id == nil })
        #expect(try harness.post(#"{"month":"2024-11","devices":[]}"#, "/push/v1/notify").status == 400)
    }

    @Test func `a wrong path, method or type is told so`() throws {
        var harness = try GatewayHarness()
        let body = Sample.batch([Sample.item("a")])
        #expect(try harness.post(body, "/push/v1/notifyencrypted/batch").status == 404)
        #expect(try harness.post("", method: .get).status == 405)
        #expect(try harness.post(body, type: "text/plain").status == 415)
        #expect(try harness.post(body, type: "application/json; charset=utf-8").status == 200)
    }
}

struct GatewayConductTests {
    @Test func `dead keys are told per item, in part where another device lives`() throws {
        var harness = try GatewayHarness { _ in .rejecting(["dead", "gone"]) }
        let items = [
            Sample.item("one", Sample.plain(["dead"])), Sample.item("two", Sample.plain(["dead", "alive"])),
            Sample.item("three", Sample.plain(["alive"])),
            Sample.item("four", Sample.plain(["gone", "dead"])),
        ]
        let answer = try harness.post(Sample.batch(items), "/push/v1/notify/batch")
        #expect(
            answer.text == #"{"results":[{"id":"one","status":"failed","rejected":["dead"]},"#
                + #"{"id":"two","status":"partial","rejected":["dead"]},{"id":"three","status":"success"},"#
                + #"{"id":"four","status":"failed","rejected":["gone","dead"]}],"#
                + #""summary":{"total":4,"successful":1,"failed":2,"partial":1}}"#
        )
        let single = #"{"notification":\#(Sample.plain(["alive", "dead"]))}"#
        #expect(try harness.post(single, "/push/v1/notify").text == #"{"rejected":["dead"]}"#)
    }

    @Test func `results can be reordered, left out and failed`() throws {
        var harness = try GatewayHarness { arrival in
            var conduct = GatewayConduct()
            conduct.order = arrival.batch == 1 ? .reversed : .sortedByID
            conduct.failures = ["a": "no route"]
            conduct.omittedIDs = arrival.batch == 1 ? [] : ["c"]
            return conduct
        }
        let body = Sample.batch(["b", "a", "c"].map { Sample.item($0) })
        let failed = #"{"id":"a","status":"failed","error":"no route"}"#
        let (b, c) = (#"{"id":"b","status":"success"}"#, #"{"id":"c","status":"success"}"#)
        #expect(try harness.post(body).text.hasPrefix(#"{"results":[\#(c),\#(failed),\#(b)],"#))
        #expect(try harness.post(body).text.hasPrefix(#"{"results":[\#(failed),\#(b)],"#))
    }

    @Test func `any status can be answered, with a time to come back`() throws {
        var harness = try GatewayHarness { arrival in
            arrival.batch == 1
                ? .status(429, retryAfter: "120") : .status(503, retryAfter: "Mon, 30 Nov 2026 12:00:00 GMT")
        }
        let body = Sample.batch([Sample.item("a")])
        let first = try harness.post(body)
        #expect(first.status == 429)
        #expect(first.header("retry-after") == "120")
        let second = try harness.post(body)
        #expect(second.status == 503)
        #expect(second.header("retry-after") == "Mon, 30 Nov 2026 12:00:00 GMT")
        #expect(harness.received.all.isEmpty)
    }

    @Test func `the behaviour sees what arrived`() throws {
        var harness = try GatewayHarness { arrival in
            let words =
                [arrival.path, "\(arrival.batch)"] + arrival.ids + arrival.pushkeys + [
                    arrival.client ?? "nobody"
                ]
            return .doing(.respond(status: 418, body: words.joined(separator: " "), type: "text/plain"))
        }
        let answer = try harness.post(
            Sample.batch([Sample.item("a", Sample.encrypted("k1")), Sample.item("b")])
        )
        #expect(answer.status == 418)
        #expect(answer.text == "/push/v1/notifyEncrypted/batch 1 a b k1 key nobody")
    }

    @Test func `an answer can be late, cut short, or never come`() throws {
        var harness = try GatewayHarness { arrival in
            switch arrival.ids.first {
            case "late": .delayed(.milliseconds(300))
            case "cut": .doing(.truncate(bytes: 20))
            case "close": .doing(.close)
            case "hang": .doing(.hang)
            default: .regular
            }
        }
        let late = try harness.post(Sample.batch([Sample.item("late")]))
        #expect(late.timing.total >= .milliseconds(300))
        #expect(late.status == 200)
        #expect(try harness.post(Sample.batch([Sample.item("cut")])).text == #"{"results":[{"id":"c"#)
        #expect(try harness.exchange(Sample.batch([Sample.item("close")])).isFailure(.aborted))
        let began = ContinuousClock.now
        #expect(
            try harness.exchange(Sample.batch([Sample.item("hang")]), total: .seconds(2)).isFailure(
                .timeout
            )
        )
        #expect(ContinuousClock.now - began < .seconds(20))
        // On a kept connection that ends without an answer the client sends once more by itself.
        #expect(harness.received.all.map(\.id) == ["late", "cut", "close", "close", "hang"])
        let isDone = harness.gateway.drain(within: .seconds(20))
        #expect(isDone)
    }
}

extension Result where Failure == HTTPClient.Failure {
    func isFailure(_ expected: HTTPClient.Failure) -> Bool {
        if case .failure(expected) = self { true } else { false }
    }
}

/// A line of the record, read back.
private struct RecordLine {
    var receivedAt = ""
    var path = ""
    var batch: Int64 = 0
    var id: String?
    var notification = ""

    init(_ line: [UInt8]) throws {
        var found = (receivedAt: "", path: "", batch: Int64(0), id: String?.none, notification: "")
        var names: [String] = []
        try Reader.read(line) { reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                names.append(name.text)
                switch name {
                case "received_at": found.receivedAt = try reader.readString()
                case "path": found.path = try reader.readString()
                case "batch": found.batch = try reader.readInt64()
                case "id": found.id = try reader.readNullableString()
                case "notification":
                    found.notification = String(decoding: try reader.readRawBytes(), as: UTF8.self)
                default: break
                }
            }
        }
        (receivedAt, path, batch, id, notification) = found
        try #require(names == ["received_at", "path", "batch", "id", "notification"])
    }
}
