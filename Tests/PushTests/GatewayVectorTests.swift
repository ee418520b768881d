import JSON
import Testing

@testable import Push

/// What gematik's own gateway, release 1.0.0, answered when it was run: every case read, every answer classified.
struct GatewayVectorTests {
    /// One recorded exchange, as far as the sender sees it.
    struct Exchange: CustomStringConvertible {
        var name = ""
        var path = ""
        var pushkeys: [String: String] = [:]
        var isSeen = false
        var status: Int?
        var contentType: String?
        var body: [UInt8] = []

        var description: String { name }

        var format: NotificationFormat {
            if path.hasPrefix("/push/v1/notifyEncrypted") { return .gematik12Encrypted }
            return path == "/push/v1/notify/batch" ? .gematik12Plain : .concept2024
        }

        func answer(_ status: Int) -> GatewayAnswer {
            GatewayAnswer(
                GatewayResponse(status: status, contentType: contentType, body: body),
                to: format,
                now: GatewayAnswerTests.now
            )
        }
    }

    private static func exchanges() throws -> [Exchange] {
        try VectorFile.lines("gateway-answers.ndjson").map { line in
            var exchange = Exchange()
            // One answer repeats half a surrogate pair that was sent on purpose; a strict reader takes none, also not here.
            let text = String(decoding: line, as: UTF8.self)
            let isBroken = text.contains(Self.half) && text.contains("lone-surrogate")
            try Reader.read(isBroken ? Array(text.replacing(Self.half, with: "half").utf8) : line) {
                reader throws(ReadError) in
                try reader.readObject { name, reader throws(ReadError) in
                    switch name {
                    case "case": exchange.name = try reader.readString()
                    case "seen": exchange.isSeen = try reader.readBool()
                    case "request": try readRequest(&reader, &exchange)
                    case "response": try readResponse(&reader, &exchange)
                    default: break
                    }
                }
            }
            if isBroken {
                let body = String(decoding: exchange.body, as: UTF8.self)
                exchange.body = Array(body.replacing("half", with: Self.half).utf8)
            }
            return exchange
        }
    }

    private static let half = #"\ud800"#

    private static func readRequest(_ reader: inout Reader, _ exchange: inout Exchange) throws(ReadError) {
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "path": exchange.path = try reader.readNullableString() ?? ""
            case "body" where try reader.peek() == .object: try readItems(&reader, &exchange)
            default: break
            }
        }
    }

    /// Keeps the first pushkey of every item; items may be abbreviated or broken on purpose.
    private static func readItems(_ reader: inout Reader, _ exchange: inout Exchange) throws(ReadError) {
        try reader.readObject { name, reader throws(ReadError) in
            guard name == "notifications", try reader.peek() == .array else { return }
            try reader.readArray { reader throws(ReadError) in
                guard try reader.peek() == .object else { return }
                let item = try reader.readRawBytes()
                let id = try Reader.read(item) { reader throws(ReadError) in
                    var id: String?
                    try reader.readObject { name, reader throws(ReadError) in
                        if name == "id", try reader.peek() == .string { id = try reader.readString() }
                    }
                    return id
                }
                if let id, let pushkey = EncodedNotification.pushkey(in: item, format: .gematik12Plain) {
                    exchange.pushkeys[id] = String(decoding: pushkey, as: UTF8.self)
                }
            }
        }
    }

    private static func readResponse(_ reader: inout Reader, _ exchange: inout Exchange) throws(ReadError) {
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "status": exchange.status = try reader.readNullableInt64().map { Int($0) }
            case "content_type": exchange.contentType = try reader.readNullableString()
            case "body_fields": exchange.body = try readBody(&reader)
            default: break
            }
        }
    }

    /// Absent bodies are empty; those that were no JSON are recorded as their length.
    private static func readBody(_ reader: inout Reader) throws(ReadError) -> [UInt8] {
        guard try reader.peek() != .null else { return [] }
        let raw = try reader.readRawBytes()
        return String(decoding: raw, as: UTF8.self).contains("<non-json>") ? Array("<html></html>".utf8) : raw
    }

    @Test func `every recorded answer is classified by its status and body`() throws {
        let exchanges = try Self.exchanges()
        #expect(exchanges.count == 325)
        var counts: [String: Int] = [:]
        var unreadable: [String] = []
        for exchange in exchanges where exchange.path.hasPrefix("/push/v1/") {
            guard let status = exchange.status else {
                #expect(!exchange.isSeen)
                continue
            }
            let answer = exchange.answer(status)
            let kind = Self.check(exchange, status, answer)
            counts[kind, default: 0] += 1
            if kind == "unreadable" { unreadable.append(exchange.name) }
        }
        // Without a body; with half a surrogate pair; with results that the record abbreviates to one text.
        #expect(
            unreadable.sorted() == [
                "killed-right-behind-200", "method-OPTIONS-enc-batch", "raw-lone-surrogate-id",
                "stopped-right-behind-200",
            ]
        )
        #expect(
            counts == [
                "results": 180, "taken": 20, "unreadable": 4, "refused": 73, "configuration": 23,
                "transient": 6,
            ]
        )
    }

    private static func check(_ exchange: Exchange, _ status: Int, _ answer: GatewayAnswer) -> String {
        switch (status, answer) {
        case (200, .results(let results, let unreadable)):
            // Abbreviated lists hold one string in the place of the results left out.
            #expect(unreadable <= 1, "\(exchange)")
            #expect(results.allSatisfy { $0.status != .unknown }, "\(exchange)")
            return "results"
        case (200, .taken): return "taken"
        case (200, .transient(.unreadableAnswer, _)): return "unreadable"
        case (400, .refused): return "refused"
        case (404...406, .fault(.configuration)), (415, .fault(.configuration)): return "configuration"
        case (500...503, .transient(.serverError, _)): return "transient"
        default:
            Issue.record("\(exchange): \(answer)")
            return "other"
        }
    }

    @Test func `G3 a provider's refusal is told as a rejection of the next message, once`() throws {
        let exchanges = try Self.exchanges().filter {
            $0.name.hasPrefix("provider-apns-4") || $0.name.hasPrefix("provider-apns-5")
        }
        var told = 0
        for exchange in exchanges {
            guard exchange.status == 200, case .results(let results, 0) = exchange.answer(200) else {
                continue
            }
            for result in results {
                let id = String(decoding: result.id, as: UTF8.self)
                let pushkey = try #require(exchange.pushkeys[id])
                let outcome = result.outcome(pushkey: Array(pushkey.utf8))
                if exchange.name.hasSuffix("-1st") || exchange.name.hasSuffix("-3rd") {
                    #expect(outcome == .accepted, "\(exchange)")
                } else if exchange.name.hasSuffix("-2nd") {
                    if outcome == .rejected { told += 1 }
                    #expect(result.outcome(pushkey: Array("another".utf8)) != .rejected, "\(exchange)")
                }
            }
        }
        #expect(told == 10)
    }

    @Test(
        arguments: [
            ("enc-batch-mixed-unknown-app", ["bad": Outcome.transient(.itemFailed), "good": .accepted]),
            ("plain-batch-mixed-unknown-app", ["bad": .transient(.itemFailed), "good": .accepted]),
            ("plain-batch-one-of-two-devices-unknown", ["p": .transient(.itemFailed)]),
            ("plain-batch-devices-empty", ["a1": .transient(.itemFailed)]),
            ("enc-batch-valid-1", ["a1": .accepted]),
            ("enc-app-disabled", ["a1": .transient(.itemFailed)]),
            ("enc-batch-dup-ids-identical-items", ["a1": .accepted]),
            ("enc-batch-dead-token-other-app-2nd", ["x": .rejected]),
            ("broker-down-enc-batch", ["lost1": .accepted, "lost2": .accepted]),
        ]
    )
    func `well-known cases end as they should`(name: String, expected: [String: Outcome]) throws {
        let exchange = try #require(try Self.exchanges().first { $0.name == name })
        guard case .results(let results, _) = exchange.answer(try #require(exchange.status)) else {
            Issue.record("no results")
            return
        }
        var outcomes: [String: Outcome] = [:]
        for result in results {
            let id = String(decoding: result.id, as: UTF8.self)
            outcomes[id] = result.outcome(pushkey: Array((exchange.pushkeys[id] ?? "").utf8))
        }
        #expect(outcomes == expected)
    }

    @Test func `duplicate ids are the one fault that is named`() throws {
        for exchange in try Self.exchanges() where exchange.status == 400 {
            guard case .refused(let refusal) = exchange.answer(400) else { continue }
            let isNamed = exchange.name == "enc-batch-dup-ids" || exchange.name == "plain-batch-dup-ids"
            #expect((refusal.kind == .duplicateIDs) == isNamed, "\(exchange)")
        }
    }
}
