import DispatchWorker
import HTTPServer
import Kafka
import Lanes
import LocalServices
import Push
import Simulation
import Support
import Synchronization
import Testing

@Suite struct `Dispatch keeps going` {
    /// When each pushkey was published and when it arrived.
    private final class Stopwatch: Sendable {
        private let starts = Mutex<[String: ContinuousClock.Instant]>([:])
        private let ends = Mutex<[String: ContinuousClock.Instant]>([:])

        func start(_ pushkeys: [String]) {
            let now = ContinuousClock.now
            starts.withLock { for key in pushkeys { $0[key] = now } }
        }

        func stop(_ pushkeys: [String]) {
            let now = ContinuousClock.now
            ends.withLock { for key in pushkeys where $0[key] == nil { $0[key] = now } }
        }

        var count: Int { ends.withLock { $0.count } }

        func percentile(_ share: Double) -> Duration {
            let starts = starts.withLock { $0 }
            let ages = ends.withLock { ends in
                ends.compactMap { key, end in starts[key].map { end - $0 } }
            }.sorted()
            return ages.isEmpty ? .zero : ages[min(Int(Double(ages.count) * share), ages.count - 1)]
        }
    }

    @Test(.needsKafka)
    func
        `K17: a gateway that takes its time and fails half does not slow its neighbour on the same partitions`()
        throws
    {
        let fixture = try Fixture(partitions: 2)
        let watch = Stopwatch()
        let slow = try TestGateway { arrival in
            var conduct = arrival.batch % 2 == 0 ? GatewayConduct.status(500) : .regular
            conduct.delay = .milliseconds(1500)
            return conduct
        }
        let healthy = try TestGateway { arrival in
            watch.stop(arrival.pushkeys)
            return .delayed(.milliseconds(20))
        }
        for gateway in [slow, healthy] { try fixture.allow(gateway.origin) }
        let drafts = (0..<5000).map { Draft($0, at: $0 % 2 == 0 ? slow.origin : healthy.origin) }
        try fixture.register(drafts)
        var settings = try fixture.settings()
        settings.requestTimeout = .seconds(2)
        settings.outbound.maximumRecordsPerDestination = 400
        try fixture.running(settings) { lanes in
            try eventually("the lane is ready") { lanes.statuses[0].condition == .ready }
            let start = ContinuousClock.now
            for (step, from) in stride(from: 0, to: drafts.count, by: 50).enumerated() {
                try eventually("it is time") { ContinuousClock.now >= start + .milliseconds(100 * step) }
                let part = Array(drafts[from..<from + 50])
                watch.start(part.map(\.pushkey))
                try fixture.publish(part)
            }
            try eventually("the healthy one has all") { watch.count == 2500 }
            #expect(watch.percentile(0.99) < .seconds(1))
            #expect(fixture.metric("posthorn_dispatch_shed_total") > 0)
            #expect(try fixture.reasons() == [])
            slow.behave { _ in .regular }
            try fixture.untilDone()
        }
        #expect(slow.counts.count == 2500)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `K6: one stuck record bounds how far its partition is read, then goes to the retry topic`() throws {
        let fixture = try Fixture()
        let stuck = try TestGateway { _ in .doing(.hang) }
        let healthy = try TestGateway()
        for gateway in [stuck, healthy] { try fixture.allow(gateway.origin) }
        let drafts = (0..<3000).map { Draft($0, at: $0 == 0 ? stuck.origin : healthy.origin) }
        try fixture.publish(drafts, registering: true)
        var settings = try fixture.settings()
        settings.requestTimeout = .seconds(4)
        settings.outbound.offsetWindow = 1000
        settings.outbound.recallAge = .seconds(600)
        try fixture.running(settings) { _ in
            try eventually("the window is full") { healthy.counts.count >= 999 }
            #expect(try fixture.committed().values.max() ?? 0 == 0)
            #expect(healthy.counts.count < 2900)
            try eventually("the rest goes on without it") { healthy.counts.count == 2999 }
            #expect(fixture.outcome("handed_over") >= 1)
            stuck.behave { _ in .regular }
            try fixture.untilDone()
        }
        #expect(stuck.counts.count == 1)
        #expect(try fixture.reasons() == [])
    }

    @Test(.needsKafka)
    func `K6: a gateway that never answers stops a partition no longer than its requests are called back`()
        throws
    {
        let fixture = try Fixture()
        let hanging = try TestGateway { _ in .doing(.hang) }
        let healthy = try TestGateway()
        for gateway in [hanging, healthy] { try fixture.allow(gateway.origin) }
        let drafts = (0..<5000).map { Draft($0, at: $0 % 500 == 0 ? hanging.origin : healthy.origin) }
        try fixture.publish(drafts, registering: true)
        var settings = try fixture.settings()
        settings.requestTimeout = .seconds(600)
        settings.outbound.offsetWindow = 1000
        settings.outbound.recallAge = .milliseconds(500)
        settings.drainTimeout = .seconds(1)
        try fixture.running(settings) { _ in
            try eventually("the healthy one has all") { healthy.counts.count == 4990 }
            #expect(fixture.outcome("handed_over") >= 8, "of the last window nothing has to be called back")
        }
        #expect(Set(healthy.counts.values) == [1])
        #expect(try fixture.reasons() == [])
    }

    @Test(.needsKafka)
    func `G2: every order of five results gives each message its own outcome`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let orders = Self.permutations([0, 1, 2, 3, 4])
        let drafts = (0..<5 * orders.count).map { Draft($0, at: gateway.origin) }
        gateway.behave { arrival in
            // By the last digit of the key: success, success, failed, dead, refused for good.
            let results = arrival.ids.indices.map { place -> String in
                let (id, key) = (arrival.ids[place], arrival.pushkeys[place])
                return switch (Int(key.dropFirst(4)) ?? 0) % 5 {
                case 2 where arrival.batch <= orders.count:
                    #"{"id":"\#(id)","status":"failed","error":"later"}"#
                case 3: #"{"id":"\#(id)","status":"failed","rejected":["\#(key)"]}"#
                default: #"{"id":"\#(id)","status":"success"}"#
                }
            }
            let order = orders[arrival.batch % orders.count]
            let sorted = results.count == 5 ? order.map { results[$0] } : results.reversed()
            return .doing(.respond(status: 200, body: #"{"results":[\#(sorted.joined(separator: ","))]}"#))
        }
        var settings = try fixture.settings()
        settings.batchItems = 5
        settings.outbound.inFlight = InFlightLimit.Settings(maximum: 1, initial: 1)
        settings.linger = .seconds(1)
        // One in five is a storm elsewhere; here it is about who is who.
        settings.stormGuard.minimumRejections = 1000
        try fixture.register(drafts)
        try fixture.publish(drafts)
        try fixture.drain(settings)
        let dead = drafts.indices.filter { $0 % 5 == 3 }
        #expect(try fixture.pushkeys().count == drafts.count - dead.count)
        #expect(fixture.outcome("rejected") == dead.count)
        #expect(fixture.outcome("delivered") == drafts.count - dead.count)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `G4: null, absent and empty mean the same, in every member that the answer has`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let members = [
            "", #","error":null"#, #","error":"""#, #","rejected":null"#, #","rejected":[]"#,
            #","details":null"#, #","details":{}"#, #","details":{"max_batch_size":null}"#,
        ]
        gateway.behave { arrival in
            let results = arrival.ids.enumerated().map { place, id in
                #"{"id":"\#(id)","status":"success"\#(members[place % members.count])}"#
            }
            return .doing(.respond(status: 200, body: #"{"results":[\#(results.joined(separator: ","))]}"#))
        }
        let drafts = (0..<64).map { Draft($0, at: gateway.origin) }
        try fixture.publish(drafts, registering: true)
        try fixture.drain()
        #expect(gateway.counts.values.allSatisfy { $0 == 1 } && gateway.counts.count == 64)
        #expect(fixture.outcome("delivered") == 64)
        #expect(fixture.metric("posthorn_dispatch_anomalies_total") == 0)
        #expect(try fixture.pushkeys().count == 64)
    }

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let item = rest.remove(at: index)
            return permutations(rest).map { [item] + $0 }
        }
    }

    @Test(.needsKafka)
    func `G5: a gateway that would answer 500 after 30 s is given up before, and others do not notice`()
        throws
    {
        let fixture = try Fixture()
        let stuck = try TestGateway { _ in
            var conduct = GatewayConduct.status(500)
            conduct.delay = .seconds(30)
            return conduct
        }
        let healthy = try TestGateway()
        for gateway in [stuck, healthy] { try fixture.allow(gateway.origin) }
        #expect(
            DispatchSettings(kafka: fixture.kafka, database: try fixture.settings().database).requestTimeout
                < .seconds(30)
        )
        let drafts = (0..<1000).map { Draft($0, at: $0 % 2 == 0 ? stuck.origin : healthy.origin) }
        try fixture.publish(drafts, registering: true)
        var settings = try fixture.settings()
        settings.requestTimeout = .seconds(1)
        settings.outbound.waitablePause = .milliseconds(100)
        try fixture.running(settings) { lanes in
            try eventually("the healthy one has all") { healthy.counts.count == 500 }
            try eventually("the stuck one is given up") {
                fixture.metric(
                    #"posthorn_dispatch_requests_total{gateway="\#(stuck.origin)",result="timeout"}"#
                ) >= 5
            }
            try eventually("and stopped") { fixture.stopped(stuck)["failures"] == 1 }
            #expect(lanes.statuses[0].condition == .ready)
            #expect(try fixture.reasons() == [])
            stuck.behave { _ in .regular }
            try fixture.untilDone()
            #expect(fixture.stopped(stuck).isEmpty)
        }
        #expect(stuck.counts.count == 500)
        #expect(try fixture.reasons() == [])
    }

    @Test(.needsKafka)
    func `G6: a wrong path or a proxy stops the gateway, with an alarm; records and pushers stay`() throws {
        let fixture = try Fixture()
        let gateways = try [404, 405, 406, 415, 302].map { status in try TestGateway { _ in .status(status) }
        }
        for gateway in gateways { try fixture.allow(gateway.origin) }
        let drafts = (0..<50).map { Draft($0, at: gateways[$0 % 5].origin) }
        try fixture.publish(drafts, registering: true)
        try fixture.running { _ in
            for gateway in gateways {
                try eventually("the alarm is there") { fixture.stopped(gateway) == ["configuration": 1] }
            }
            #expect(try fixture.reasons() == [])
            for gateway in gateways { gateway.behave { _ in .regular } }
            try fixture.untilDone()
        }
        for gateway in gateways {
            #expect(gateway.counts.count == 10)
            #expect(fixture.stopped(gateway).isEmpty)
        }
        #expect(try fixture.pushkeys().count == 50)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `a request to wait, as seconds or as a date, for what is new and what comes again`() throws {
        let fixture = try Fixture()
        let date = Self.httpDate(in: 3)
        let gateways = try ["2", date].map { after in try TestGateway { _ in .status(429, retryAfter: after) }
        }
        for gateway in gateways { try fixture.allow(gateway.origin) }
        let drafts = (0..<40).map { Draft($0, at: gateways[$0 % 2].origin) }
        try fixture.publish(drafts, registering: true)
        var settings = try fixture.settings()
        settings.outbound.waitablePause = .milliseconds(100)
        let start = ContinuousClock.now
        try fixture.running(settings) { _ in
            for gateway in gateways {
                try eventually("it is asked") { !gateway.arrivals.isEmpty }
                gateway.behave { _ in .regular }
            }
            try fixture.untilDone()
        }
        #expect(ContinuousClock.now - start >= .seconds(2))
        for gateway in gateways {
            #expect(gateway.counts.count == 20)
            // Requests that had left before the answer came, and none before the time was over.
            #expect(gateway.arrivals.count <= 8)
        }
        #expect(try fixture.reasons() == [])
    }

    /// As in RFC 9110, whole seconds from now.
    private static func httpDate(in seconds: Int64) -> String {
        let moment = Timestamp(seconds: Now.wallMilliseconds() / 1000 + seconds)
        let text = Array(moment.rfc3339)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let month = months[(Int(String(text[5..<7])) ?? 1) - 1]
        let day = days[Int(moment.seconds / 86_400 % 7)]
        return "\(day), \(String(text[8..<10])) \(month) \(String(text[0..<4])) \(String(text[11..<19])) GMT"
    }

    @Test(.needsKafka)
    func `M3: an address in the own network is not connected to unless the list allows it`() throws {
        let fixture = try Fixture()
        let authority = try TestAuthority()
        let pair = try authority.issue("gateway", for: .server)
        let gateway = try TestGateway(tls: .init(certificate: pair.certificate, key: pair.key))
        try fixture.allow(gateway.origin, authorities: authority.path)
        try fixture.execute("UPDATE gateways SET allow_private = false, insecure = false")
        try fixture.publish((0..<10).map { Draft($0, at: gateway.origin) }, registering: true)
        try fixture.running { _ in
            try eventually("the alarm is there") { fixture.stopped(gateway) == ["forbidden_address": 1] }
            #expect(gateway.arrivals.isEmpty)
            try fixture.execute("UPDATE gateways SET allow_private = true")
            try fixture.untilDone()
        }
        #expect(gateway.counts.count == 10)
        #expect(try fixture.reasons() == [])
    }
}
