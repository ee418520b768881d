import HTTPClient
import HTTPServer
import JSON
import Simulation
import Support
import Testing

/// Each conduct of a script, as a sender meets it.
struct ScriptedAnswerTests {
    private static let body = Sample.batch(
        ["b", "a", "d", "c"].map { Sample.item($0, Sample.encrypted("key-\($0)")) }
    )

    private func answer(_ rule: GatewayScript.Rule) throws -> HTTPClient.Response {
        var harness = try GatewayHarness(rule)
        return try harness.post(Self.body)
    }

    private func ids(_ answer: HTTPClient.Response) throws -> [String] {
        try Results(answer.body).all.map(\.id)
    }

    @Test func `results come as submitted, reversed, sorted or in any order`() throws {
        #expect(try ids(answer(.init(order: .submitted))) == ["b", "a", "d", "c"])
        #expect(try ids(answer(.init(order: .reversed))) == ["c", "d", "a", "b"])
        #expect(try ids(answer(.init(order: .byID))) == ["a", "b", "c", "d"])
        var harness = try GatewayHarness(.init(order: .random))
        let orders = try (0..<20).map { _ in try ids(harness.post(Self.body)) }
        #expect(orders.allSatisfy { $0.sorted() == ["a", "b", "c", "d"] })
        #expect(Set(orders).count > 1)
    }

    @Test(arguments: [
        (GatewayScript.Outcome.omit, [[], ["success"], ["success"], ["success"]]),
        (.duplicate, [["success", "success"], ["success"], ["success"], ["success"]]),
        (.contradict, [["success", "failed"], ["success"], ["success"], ["success"]]),
        (.fail, [["failed"], ["success"], ["success"], ["success"]]),
        (.reject, [["failed"], ["success"], ["success"], ["success"]]),
        (.rejectUnknown, [["failed"], ["success"], ["success"], ["success"]]),
    ])
    func `an item can be left out, told twice, contradicted, failed and rejected`(
        outcome: GatewayScript.Outcome,
        expected: [[String]]
    ) throws {
        let item = GatewayScript.ItemRule(pushkeys: ["key-b"], outcome: outcome)
        let results = try Results(answer(.init(items: [item])).body)
        let told = ["b", "a", "d", "c"].map { id in results.all.filter { $0.id == id }.map(\.status) }
        #expect(told == expected)
        let rejected = results.all.flatMap { $0.rejected ?? [] }
        switch outcome {
        case .reject: #expect(rejected == ["key-b"])
        case .rejectUnknown: #expect(rejected.count == 1 && rejected != ["key-b"])
        default: #expect(rejected.isEmpty)
        }
    }

    @Test func `ids that nobody sent come too`() throws {
        let results = try Results(answer(.init(unknownIDs: 2)).body)
        #expect(results.all.count == 6)
        #expect(Set(results.all.map(\.id)).count == 6)
    }

    @Test func `G4: nulls and empty values stand where the document says absent`() throws {
        #expect(try answer(.init()).text.contains(#"{"id":"b","status":"success"}"#))
        #expect(
            try answer(.init(unset: .null)).text
                .contains(#"{"id":"b","status":"success","rejected":null,"error":null}"#)
        )
        #expect(
            try answer(.init(unset: .empty)).text
                .contains(#"{"id":"b","status":"success","rejected":[],"error":""}"#)
        )
    }

    @Test func `the summary can be wrong or absent`() throws {
        #expect(try answer(.init(summary: .wrong)).text.contains(#""successful":0,"failed":4"#))
        #expect(try answer(.init(summary: .absent)).text.hasSuffix("]}"))
    }

    @Test func `any status is answered, with a body of its own or the usual one`() throws {
        let usual = try answer(.init(action: .status(503)))
        #expect(usual.status == 503)
        #expect(usual.text == #"{"error":"Push Gateway under maintenance or overloaded."}"#)
        let own = try answer(
            .init(action: .status(418, body: "tea", type: "text/plain"), retryAfter: .seconds(3))
        )
        #expect(own.status == 418)
        #expect(own.text == "tea")
        #expect(own.header("content-type") == "text/plain")
        #expect(own.header("retry-after") == "3")
    }

    @Test(arguments: [
        (GatewayScript.Action.html, "text/html; charset=utf-8"), (.empty, "application/json"),
        (.badJSON, "application/json"), (.wrongJSON, "application/json"), (.truncate(30), "application/json"),
    ])
    func `G7: what a proxy makes of an answer is no answer`(
        action: GatewayScript.Action,
        type: String
    ) throws {
        let answer = try answer(.init(action: action))
        #expect(answer.status == 200)
        #expect(answer.header("content-type") == type)
        #expect(throws: ReadError.self) { try Results(answer.body) }
    }

    @Test func `an answer is late by a fixed or a random time`() throws {
        let delay = Duration.milliseconds(300)
        #expect(try answer(.init(delay: delay...delay)).timing.total >= delay)
        let random = try answer(.init(delay: .milliseconds(100) ... .milliseconds(200)))
        #expect(random.timing.total >= .milliseconds(100))
    }

    @Test func `an answer can trickle, and is whole in the end`() throws {
        let whole = try answer(.init()).body
        let pace = Pace(bytes: whole.count / 6, every: .milliseconds(60))
        let slow = try answer(.init(pace: pace))
        #expect(slow.body == whole)
        #expect(slow.timing.total >= .milliseconds(350))
    }

    @Test func `a trickling answer does not outlast the sender's patience, nor hold up the end`() throws {
        var harness = try GatewayHarness(.init(pace: Pace(bytes: 1, every: .seconds(30))))
        let began = ContinuousClock.now
        let result = try harness.exchange(Self.body, total: .seconds(1))
        #expect(result.isFailure(.timeout))
        _ = harness.gateway.drain(within: .milliseconds(100))
        #expect(ContinuousClock.now - began < .seconds(25))
    }

    @Test func `an answer can break off before the length that it announced`() throws {
        for bytes in [0, 20] {
            var harness = try GatewayHarness(.init(pace: Pace(breaksOffAfter: bytes)))
            #expect(try harness.exchange(Self.body).isFailure(.aborted))
        }
    }

    @Test func `a request can hang or lose its connection`() throws {
        var hanging = try GatewayHarness(.init(action: .hang))
        #expect(try hanging.exchange(Self.body, total: .milliseconds(500)).isFailure(.timeout))
        var closing = try GatewayHarness(.init(action: .close))
        #expect(try closing.exchange(Self.body).isFailure(.aborted))
    }

    @Test func `what a gateway forgets is answered but not received`() throws {
        var harness = try GatewayHarness(.init(forgets: true))
        #expect(try Results(harness.post(Self.body).body).all.allSatisfy { $0.status == "success" })
        #expect(harness.received.all.isEmpty)
        #expect(harness.gateway.counts == SimulatedGateway.Counts(requests: 1, items: 0))
    }

    @Test func `items are checked as strictly as without a script`() throws {
        var harness = try GatewayHarness(.init(order: .reversed))
        let bad = Sample.encrypted(month: "2026-13")
        let answer = try harness.post(Sample.batch([Sample.item("bad", bad), Sample.item("good")]))
        #expect(try Results(answer.body).all.map(\.status) == ["success", "failed"])
        #expect(try harness.post(Sample.batch([])).status == 400)
    }
}

/// The results of an answer, strictly read.
struct Results {
    struct One: Equatable {
        var id = ""
        var status = ""
        var rejected: [String]?
        var error: String?
    }

    var all: [One] = []

    init(_ body: [UInt8]) throws(ReadError) {
        var results: [One]?
        try Reader.read(body) { reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                guard name == "results" else { return }
                var found: [One] = []
                try reader.readArray { reader throws(ReadError) in found.append(try Self.readOne(&reader)) }
                results = found
            }
        }
        guard let results else { throw ReadError(.missing, offset: 0, path: "results") }
        all = results
    }

    private static func readOne(_ reader: inout Reader) throws(ReadError) -> One {
        var one = One()
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "id": one.id = try reader.readString()
            case "status": one.status = try reader.readString()
            case "error": one.error = try reader.readNullableString()
            case "rejected":
                one.rejected = try reader.readNullable { reader throws(ReadError) in
                    var keys: [String] = []
                    try reader.readArray { reader throws(ReadError) in keys.append(try reader.readString()) }
                    return keys
                }
            default: break
            }
        }
        return one
    }
}
