import HTTPClient
import HTTPServer
import Simulation
import Support
import Testing

struct LedgerTests {
    @Test func `what was received can be asked by id, with times, batches and what was told`() throws {
        let ledger = GatewayLedger()
        let player = ScriptPlayer(
            GatewayScript.Origin(
                name: "north",
                phases: [
                    GatewayScript.Phase(
                        name: "first",
                        requests: 1,
                        rules: [.init(items: [.init(pushkeys: ["k1"], outcome: .fail)])]
                    ),
                    GatewayScript.Phase(name: "second"),
                ]
            )
        )
        var harness = try GatewayHarness(player, ledger: ledger)
        let one = Sample.item("one", Sample.encrypted("k1"))
        _ = try harness.post(Sample.batch([one, Sample.item("two")]))
        _ = try harness.post(Sample.batch([one]))
        let receipts = ledger.receipts(of: "one")
        #expect(receipts.map(\.number) == [1, 3])
        #expect(receipts.map(\.batch) == [1, 2])
        #expect(receipts.map(\.phase) == ["first", "second"])
        #expect(receipts.map(\.told) == ["failed", "success"])
        #expect(receipts.allSatisfy { $0.origin == "north" })
        #expect(ledger.receipts(of: "three").isEmpty)
        let counts = ledger.counts
        #expect(counts.ids == 2 && counts.repeats == 1 && counts.kept == 3 && counts.forgotten == 0)
        #expect(counts.origins["north"]?.answers == ["200": 2])
        #expect(counts.origins["north"]?.items == 3)
    }

    @Test func `memory is bounded: the oldest receipts go, counts stay`() throws {
        let ledger = GatewayLedger(keeping: 100)
        var harness = try GatewayHarness(
            ScriptPlayer(GatewayScript.Origin(phases: [GatewayScript.Phase()])),
            ledger: ledger
        )
        let body = { (range: Range<Int>) in
            Sample.batch(range.map { Sample.item("i\($0)", Sample.plain(["k"])) })
        }
        for start in stride(from: 0, to: 250, by: 50) {
            _ = try harness.post(body(start..<start + 50), "/push/v1/notify/batch")
        }
        let counts = ledger.counts
        #expect(counts.kept == 100 && counts.forgotten == 150 && counts.ids == 100)
        #expect(counts.origins["gateway"]?.items == 250)
        #expect(ledger.receipts(of: "i149").isEmpty)
        #expect(ledger.receipts(of: "i150").map(\.number) == [151])
        #expect(ledger.receipts(after: 0, limit: 3).map(\.id) == ["i150", "i151", "i152"])
        #expect(ledger.receipts(after: 248, limit: 10).map(\.id) == ["i248", "i249"])
        #expect(ledger.receipts(after: 250, limit: 10).isEmpty)
    }

    @Test func `it answers over HTTP, and phases can be entered`() throws {
        let ledger = GatewayLedger()
        let player = ScriptPlayer(
            GatewayScript.Origin(
                name: "north",
                phases: [
                    GatewayScript.Phase(name: "up"),
                    GatewayScript.Phase(name: "down", rules: [.init(action: .status(503))]),
                ]
            )
        )
        var harness = try GatewayHarness(player, ledger: ledger)
        let inquiry = try GatewayInquiry(
            ListenAddress(host: "127.0.0.1", port: 0),
            ledger: ledger,
            players: [player]
        )
        let body = Sample.batch([Sample.item("a b"), Sample.item("c")])
        _ = try harness.post(body)
        func ask(_ path: String, _ method: HTTPClient.Request.Method = .get) throws -> HTTPClient.Response {
            var asker = try Client()
            let request = HTTPClient.Request(
                method: method,
                url: "http://127.0.0.1:\(inquiry.port)\(path)",
                destination: Destination(allowsPrivateAddresses: true, allowsPlainText: true),
                limits: .init(total: .seconds(30))
            )
            try asker.start(request, id: 1)
            let deadline = ContinuousClock.now + .seconds(60)
            while asker.inFlight > 0, ContinuousClock.now < deadline { try asker.wait(upTo: .seconds(1)) }
            return try #require(asker.takeCompleted().first).result.get()
        }
        let found = try ask("/received/a%20b")
        #expect(found.status == 200)
        #expect(
            found.text.hasPrefix(
                #"{"id":"a b","times":1,"receipts":[{"number":1,"id":"a b","received_at":"20"#
            )
        )
        #expect(found.text.hasSuffix(#"","origin":"north","phase":"up","batch":1,"told":"success"}]}"#))
        #expect(!found.text.contains("key"))
        #expect(try ask("/received/x").status == 404)
        #expect(try ask("/received/x").text == #"{"id":"x","times":0,"receipts":[]}"#)
        #expect(try ask("/received?since=1").text.hasPrefix(#"{"next":2,"receipts":[{"number":2,"id":"c","#))
        #expect(try ask("/received?since=2&limit=5").text == #"{"next":2,"receipts":[]}"#)
        #expect(try ask("/received?limit=10001").status == 400)
        #expect(try ask("/script/phase/down", .post).text == #"{"phase":"down","origins":["north"]}"#)
        #expect(try harness.post(body).status == 503)
        #expect(try ask("/script/phase/sideways", .post).status == 404)
        #expect(try ask("/script/phase/up?origin=south", .post).status == 404)
        #expect(
            try ask("/counts").text == #"{"requests":2,"items":2,"ids":2,"repeats":0,"kept":2,"forgotten":0,"#
                + #""origins":[{"name":"north","phase":"down","requests":2,"items":2,"turned_away":0,"#
                + #""answers":{"200":1,"503":1}}]}"#
        )
        #expect(try ask("/else").status == 404)
    }
}
