import DispatchWorker
import HTTPServer
import Kafka
import LocalServices
import Push
import Simulation
import Support
import Testing

@Suite struct `Dispatch survives` {
    @Test(.needsKafka)
    func `G1: one bad of a hundred is found in few requests, and alone becomes a dead letter`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let drafts = (0..<100).map { Draft($0, at: gateway.origin) }
        let bad = drafts[63].id.description
        gateway.behave {
            $0.ids.contains(bad)
                ? .doing(.respond(status: 400, body: #"{"status":400,"error":"Bad Request"}"#)) : .regular
        }
        try fixture.publish(drafts)
        var settings = try fixture.settings()
        settings.linger = .seconds(2)
        try fixture.drain(settings)
        #expect(gateway.arrivals.first?.ids.count == 100)
        #expect(gateway.arrivals.count <= 14, "2·log2(100)+1 requests")
        #expect(gateway.counts.count == 99)
        #expect(gateway.counts.values.allSatisfy { $0 == 1 })
        let letters = try fixture.deadLetters()
        #expect(letters.count == 1)
        let letter = try #require(letters.first)
        let original = drafts[63].record
        #expect(letter.key == original.key)
        #expect(letter.value == original.value)
        #expect(Array(letter.headers).prefix(original.headers.count).elementsEqual(original.headers))
        #expect(letter.headers.text("x-dlq-reason") == "message_refused")
        #expect(letter.headers.text("x-dlq-http-status") == "400")
        #expect(letter.headers.text("x-dlq-stage") == "dispatch")
        #expect(letter.headers.text("x-dlq-attempts") == "1")
        #expect(letter.headers.text("x-original-topic") == fixture.topics.notifications)
        #expect(letter.headers.text("x-original-consumer-group") == fixture.topics.dispatchGroup)
        #expect(fixture.outcome("dead_lettered") == 1)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `M9: a request too large for the gateway goes in smaller ones; nobody is rejected`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway { $0.ids.count > 20 ? .status(413) : .regular }
        try fixture.allow(gateway.origin)
        let drafts = (0..<100).map { Draft($0, at: gateway.origin) }
        for draft in drafts.prefix(3) {
            try fixture.register(draft, at: gateway.origin, registered: draft.registered)
        }
        try fixture.publish(drafts)
        try fixture.drain()
        #expect(gateway.counts.count == 100)
        #expect(gateway.counts.values.allSatisfy { $0 == 1 })
        #expect(try fixture.reasons() == [])
        #expect(try fixture.pushkeys().count == 3)
    }

    static let faults: [(String, GatewayConduct, stops: Bool)] = [
        ("401", .status(401), true),
        ("403", .status(403), true),
        ("G6: 404", .status(404), true),
        ("a redirect", .status(302), true),
        (
            "G7: HTML with 200",
            .doing(.respond(status: 200, body: "<html>Welcome</html>", type: "text/html")), false
        ),
        ("G7: an empty 200", .doing(.respond(status: 200, body: "")), false),
        ("G7: a truncated 200", .doing(.truncate(bytes: 40)), false),
        ("429 with Retry-After", .status(429, retryAfter: "1"), true),
        ("503", .status(503), false),
    ]

    @Test(.needsKafka)
    func `what gateways answer in trouble, without a dead letter, a deletion or a restart`() throws {
        let fixture = try Fixture()
        let gateways = try Self.faults.map { _, conduct, _ in try TestGateway { _ in conduct } }
        var number = 0
        var drafts: [Draft] = []
        for gateway in gateways {
            try fixture.allow(gateway.origin)
            for _ in 0..<5 {
                drafts.append(Draft(number, at: gateway.origin))
                try fixture.register(
                    drafts[number],
                    at: gateway.origin,
                    registered: drafts[number].registered
                )
                number += 1
            }
        }
        try fixture.publish(drafts)
        try fixture.running { _ in
            try eventually("every gateway was tried, most several times") {
                zip(Self.faults, gateways).allSatisfy { fault, gateway in
                    gateway.arrivals.count >= (fault.0.hasPrefix("429") ? 1 : 3)
                }
            }
            for (fault, gateway) in zip(Self.faults, gateways) where fault.stops {
                #expect(
                    fixture.stopped(gateway).values.reduce(0, +) == 1,
                    "\(fault.0)"
                )
            }
            #expect(try fixture.reasons() == [])
            for gateway in gateways { gateway.behave { _ in .regular } }
            try fixture.untilDone()
        }
        for (fault, gateway) in zip(Self.faults, gateways) {
            #expect(gateway.counts.count == 5, "\(fault.0)")
        }
        #expect(try fixture.reasons() == [])
        #expect(try fixture.pushkeys().count == drafts.count)
        #expect(fixture.metric(#"posthorn_dispatch_anomalies_total{kind="unreadable_answer"}"#) > 0)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka) func `a notification that always fails, for a set number of attempts`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let drafts = (0..<10).map { Draft($0, at: gateway.origin) }
        let failing = drafts[4].id.description
        gateway.behave { _ in
            var conduct = GatewayConduct()
            conduct.failures = [failing: "no"]
            return conduct
        }
        try fixture.publish(drafts, registering: true)
        var settings = try fixture.settings()
        settings.attempts = 4
        try fixture.drain(settings)
        #expect(gateway.counts[failing] == 4)
        #expect(gateway.counts.values.reduce(0, +) == 13)
        let letter = try #require(try fixture.deadLetters().first)
        #expect(letter.headers.text("x-dlq-reason") == "out_of_attempts")
        #expect(letter.headers.text("x-dlq-attempts") == "4")
        #expect(letter.headers.text("x-dlq-detail") == "item_failed")
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `a failing gateway by handing over to a retry topic, of which the group knows nothing`()
        throws
    {
        let fixture = try Fixture(delays: TopicCatalogue.defaultRetryDelays)
        let gateway = try TestGateway { _ in .status(503) }
        try fixture.allow(gateway.origin)
        let draft = Draft(1, at: gateway.origin)
        try fixture.publish([draft])
        try fixture.running { _ in
            try eventually("it is handed over and committed") { try fixture.lag() == 0 }
        }
        let records = try fixture.records(on: fixture.topics.retries[0])
        #expect(records.map(\.value) == [draft.record.value])
        let headers = try #require(records.first?.headers)
        #expect(headers.text("x-dlq-attempts") == "1")
        #expect(headers.text("x-dlq-reason") == nil)
        #expect(headers.text("x-retry-count") == "1")
        #expect(headers.text("x-retry-due") != nil)
        #expect(fixture.outcome("handed_over") == 1)
        #expect(fixture.imbalance == 0)
    }
}
