import HTTPClient
import HTTPServer
import JSON
import LocalServices
import Simulation
import Support
import Testing

/// The simulated reference gateway against what the real one was recorded to answer.
struct ReferenceGatewayTests {
    private static let rejecting = GatewayScript.Rule(
        items: [GatewayScript.ItemRule(pushkeys: ["dead", "gone"], outcome: .reject)]
    )

    private func results(
        _ harness: inout GatewayHarness,
        _ items: [String],
        _ path: String = "Encrypted"
    ) throws
        -> [Results.One]
    {
        try Results(harness.post(Sample.batch(items), "/push/v1/notify\(path)/batch").body).all
    }

    @Test func `G1: one wrong item makes the whole batch 400, and is not named`() throws {
        var harness = try GatewayHarness(.init(), manner: .reference(knownApps: nil))
        let bad = Sample.encrypted(ciphertext: String(Sample.ciphertext.dropLast()))
        let answer = try harness.post(
            Sample.batch((0..<99).map { Sample.item("\($0)") } + [Sample.item("bad", bad)])
        )
        #expect(answer.status == 400)
        #expect(answer.text.hasPrefix(#"{"timestamp":""#))
        #expect(
            answer.text.hasSuffix(
                #"","status":400,"error":"Bad Request","path":"/push/v1/notifyEncrypted/batch"}"#
            )
        )
        #expect(harness.received.all.isEmpty)
        #expect(try results(&harness, (0..<100).map { Sample.item("\($0)") }).count == 100)
    }

    @Test func `G2: results are sorted by id`() throws {
        var harness = try GatewayHarness(.init(), manner: .reference(knownApps: nil))
        let items = ["b", "a", "10", "9", "2"].map { Sample.item($0) }
        let told = try results(&harness, items)
        #expect(told.map(\.id) == ["10", "2", "9", "a", "b"])
        #expect(told.allSatisfy { $0.rejected == [] && $0.error == nil })
    }

    @Test func `G3: a rejection is told on the next request, once, and then forgotten`() throws {
        var harness = try GatewayHarness(Self.rejecting, manner: .reference(knownApps: nil))
        let item = Sample.item("x", Sample.encrypted("dead"))
        var told: [Results.One] = []
        for _ in 0..<4 { told += try results(&harness, [item]) }
        #expect(told.map(\.status) == ["success", "failed", "success", "failed"])
        #expect(told.map(\.rejected) == [[], ["dead"], [], ["dead"]])
        #expect(told[1].error?.isEmpty == false)
    }

    @Test func `a rejection waits until it can be told`() throws {
        let player = ScriptPlayer(
            GatewayScript.Origin(phases: [
                GatewayScript.Phase(name: "on", manner: .reference(knownApps: nil), rules: [Self.rejecting]),
                GatewayScript.Phase(
                    name: "off",
                    manner: .reference(knownApps: nil),
                    rules: [.init(action: .status(500))]
                ),
            ])
        )
        var harness = try GatewayHarness(player)
        let item = Sample.item("x", Sample.encrypted("dead"))
        #expect(try results(&harness, [item]).map(\.status) == ["success"])
        #expect(player.enter("off"))
        #expect(try harness.post(Sample.batch([item])).status == 500)
        #expect(player.enter("on"))
        #expect(try results(&harness, [item]).map(\.status) == ["failed"])
    }

    @Test func `FCM's refusals and keys too long for its table are never told`() throws {
        let long = String(repeating: "k", count: 256)
        let rule = GatewayScript.Rule(items: [GatewayScript.ItemRule(outcome: .reject)])
        var harness = try GatewayHarness(rule, manner: .reference(knownApps: nil))
        let firebase = Sample.encrypted("f").replacing("com.example.app.apns", with: "project.app.firebase")
        let items = [Sample.item("f", firebase), Sample.item("l", Sample.encrypted(long))]
        for _ in 0..<3 {
            #expect(try results(&harness, items).map(\.status) == ["success", "success"])
        }
    }

    @Test func `G5: 500 in the framework's body comes after its time`() throws {
        let delay = Duration.milliseconds(400)
        var harness = try GatewayHarness(
            .init(delay: delay...delay, action: .status(500)),
            manner: .reference(knownApps: nil)
        )
        let answer = try harness.post(Sample.batch([Sample.item("a")]))
        #expect(answer.status == 500)
        #expect(answer.timing.total >= delay)
        #expect(answer.text.contains(#""error":"Internal Server Error""#))
    }

    @Test func `G6: a wrong path, method or type is told in the framework's body`() throws {
        var harness = try GatewayHarness(.init(), manner: .reference(knownApps: nil))
        let body = Sample.batch([Sample.item("a")])
        let wrong = try [
            harness.post(body, "/push/v1/notifyEncrypted"), harness.post("", method: .get),
            harness.post(body, type: "text/plain"), harness.post(body, "/_matrix/push/v1/notify"),
        ]
        #expect(wrong.map(\.status) == [404, 405, 415, 404])
        #expect(
            wrong[1].text.contains(#""error":"Method Not Allowed","path":"/push/v1/notifyEncrypted/batch"}"#)
        )
    }

    @Test func `the recorded requests are answered as they were recorded`() throws {
        let exchanges = try RecordedExchange.all()
        let refused = Set(exchanges.flatMap(\.refusedKeys))
        #expect(refused.count == 15)
        let apps: Set = [
            "com.example.alpha.apns", "com.example.down.apns", "pgw-alpha.one.firebase",
            "pgw-alpha.never.listed.firebase",
        ]
        let manner = GatewayManner.reference(knownApps: apps)
        let reject = GatewayScript.ItemRule(pushkeys: refused, outcome: .reject)
        let player = ScriptPlayer(
            GatewayScript.Origin(
                requestLimit: 31 << 20,
                phases: [
                    GatewayScript.Phase(name: "running", manner: manner, rules: [.init(items: [reject])]),
                    GatewayScript.Phase(
                        name: "database",
                        manner: manner,
                        rules: [.init(action: .status(500))]
                    ),
                    GatewayScript.Phase(name: "broker", manner: manner, rules: [.init(forgets: true)]),
                ]
            )
        )
        var harness = try GatewayHarness(player)
        var replayed = 0
        for exchange in exchanges {
            guard let body = exchange.body, let method = exchange.method else { continue }
            #expect(player.enter(exchange.phase))
            let answer = try harness.post(body, exchange.path, type: exchange.type, method: method)
            #expect(answer.status == exchange.status, "\(exchange.name)")
            let told = try Canonical.text(answer.body, sortingResults: exchange.isPlain)
            let expected = try Canonical.text(exchange.answer, sortingResults: exchange.isPlain)
            #expect(told == expected, "\(exchange.name)")
            replayed += 1
        }
        #expect(replayed == 241)
    }
}
