import DispatchWorker
import HTTPServer
import Kafka
import Lanes
import LocalServices
import Push
import Simulation
import Support
import Testing

@Suite struct `Dispatch retries` {
    @Test(.needsKafka)
    func `a step higher each time, not before its time, with its id, first failure and attempts`() throws {
        let fixture = try Fixture(delays: [.milliseconds(300), .milliseconds(600)])
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let draft = Draft(0, at: gateway.origin)
        let id = draft.id.description
        gateway.behave { _ in
            var conduct = GatewayConduct()
            conduct.failures = [id: "no"]
            return conduct
        }
        try fixture.publish([draft], registering: true)
        var settings = try fixture.settings()
        settings.attempts = 5
        try fixture.drain(settings)
        #expect(gateway.counts == [id: 5])
        let topics = fixture.topics.retries
        let first = try fixture.records(on: topics[0])
        let second = try fixture.records(on: topics[1])
        #expect(first.map { $0.headers.text("x-retry-count") } == ["1"])
        #expect(second.map { $0.headers.text("x-retry-count") } == ["2", "3", "4"])
        #expect((first + second).map { $0.headers.text("x-dlq-attempts") } == ["1", "2", "3", "4"])
        let moments = try fixture.deadLetters() + first + second
        #expect(Set(moments.map { $0.headers.text("x-dlq-first-failed-at") }).count == 1)
        #expect(moments.allSatisfy { $0.value == draft.record.value && $0.headers.text("id") == id })
        let dues = second.compactMap { $0.headers.text("x-retry-due") }.compactMap { Int64($0) }
        // Each was tried when it was due, and only then handed over for at least as long again.
        #expect(zip(dues, dues.dropFirst()).allSatisfy { $1 - $0 >= 600 })
        #expect(try fixture.reasons() == ["out_of_attempts"])
        #expect(fixture.metric("posthorn_dispatch_retried_total") == 4)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `nothing whose pusher is gone: dropped, counted and committed, no dead letter`() throws {
        let fixture = try Fixture(delays: [.milliseconds(300)])
        let gateway = try TestGateway { _ in .status(503) }
        try fixture.allow(gateway.origin)
        let drafts = (0..<40).map { Draft($0, at: gateway.origin) }
        try fixture.publish(drafts, registering: true)
        try fixture.running { _ in
            try eventually("all are handed over") { fixture.outcome("handed_over") >= 40 }
            try fixture.execute("DELETE FROM pushers WHERE pushkey LIKE '%3'")
            gateway.behave { _ in .regular }
            try fixture.untilDone()
        }
        #expect(gateway.pushkeyCounts.keys.allSatisfy { !$0.hasSuffix("3") })
        #expect(gateway.counts.count == 36)
        #expect(fixture.outcome("pusher_gone") == 4)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `when the database is back; meanwhile they wait, and new notifications go on`() throws {
        let fixture = try Fixture()
        let bad = try TestGateway { _ in .status(503) }
        let good = try TestGateway()
        for gateway in [bad, good] { try fixture.allow(gateway.origin) }
        let drafts = (0..<20).map { Draft($0, at: bad.origin) }
        try fixture.publish(drafts, registering: true)
        try fixture.running { lanes in
            try eventually("all are handed over") { fixture.outcome("handed_over") >= 20 }
            try fixture.execute("ALTER TABLE pushers RENAME TO pushers_away")
            bad.behave { _ in .regular }
            let before = bad.counts.count
            try fixture.publish((100..<200).map { Draft($0, at: good.origin) })
            try eventually("the new ones are delivered and committed") {
                try good.counts.count == 100 && fixture.lag() == 0
            }
            try eventually("a retry is overdue") {
                fixture.metric("posthorn_dispatch_retry_lag") > 0
            }
            #expect(bad.counts.count - before < 20)
            #expect(lanes.statuses[0].condition == .ready)
            try fixture.execute("ALTER TABLE pushers_away RENAME TO pushers")
            try fixture.untilDone()
        }
        #expect(bad.counts.count == 20)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `after a restart, and with other delays than before`() throws {
        let fixture = try Fixture(delays: [.milliseconds(1500)])
        let gateway = try TestGateway { _ in .status(503) }
        try fixture.allow(gateway.origin)
        let drafts = (0..<30).map { Draft($0, at: gateway.origin) }
        try fixture.publish(drafts, registering: true)
        try fixture.running { _ in
            try eventually("all are handed over") {
                try fixture.outcome("handed_over") >= 30 && fixture.lag() == 0
            }
        }
        gateway.behave { _ in .regular }
        var settings = try fixture.settings()
        settings.topics = TopicCatalogue(prefix: fixture.topics.prefix, retryDelays: [.milliseconds(50)])
        try fixture.createTopics(settings.topics.retries)
        try fixture.running(lanes: 2, settings) { _ in try fixture.untilDone() }
        #expect(gateway.counts.count == 30)
        #expect(gateway.counts.values.allSatisfy { $0 == 1 })
        #expect(try fixture.reasons() == [])
    }

    @Test(.needsKafka)
    func `poison on a retry topic as a dead letter, and a due moment that makes no sense soon`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let drafts = (0..<4).map { Draft($0, at: gateway.origin) }
        try fixture.register(drafts)
        let far = Array("253402300799000".utf8)
        let records = [
            RawRecord(key: nil, value: nil), drafts[0].record.adding("x-retry-due", Array("soon".utf8)),
            drafts[1].record.adding("x-retry-due", far), drafts[2].record.replacing("app", nil),
            drafts[3].record,
        ]
        try fixture.publish(records, to: fixture.topics.retries[1])
        try fixture.drain()
        #expect(Set(gateway.counts.keys) == Set([0, 1, 3].map { drafts[$0].id.description }))
        #expect(try fixture.reasons() == ["malformed_notification", "tombstone"])
        let groups = try fixture.deadLetters().map { $0.headers.text("x-original-consumer-group") }
        #expect(Set(groups) == [fixture.topics.retryGroup])
    }

    @Test(.needsKafka)
    func `up to the expiry, which is then told with the last failure`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway { _ in .status(503) }
        try fixture.allow(gateway.origin)
        var draft = Draft(0, at: gateway.origin)
        draft.expires = Now.wallMilliseconds() + 1500
        try fixture.publish([draft], registering: true)
        try fixture.drain()
        let letter = try #require(try fixture.deadLetters().first)
        #expect(letter.headers.text("x-dlq-reason") == "expired")
        #expect(letter.headers.text("x-dlq-detail")?.hasPrefix("server_error") == true)
        #expect(letter.headers.text("x-dlq-http-status") == "503")
        #expect(letter.headers.text("x-retry-count") == nil)
        #expect(gateway.arrivals.count >= 2)
        #expect(fixture.outcome("expired") == 1)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `D5: a gateway that is down for the whole schedule fills the retry topics and not the dead letters`()
        throws
    {
        let fixture = try Fixture(partitions: 2)
        let down = try TestGateway { _ in .status(502) }
        let healthy = try TestGateway()
        for gateway in [down, healthy] { try fixture.allow(gateway.origin) }
        let drafts = (0..<1000).map { Draft($0, at: $0 % 2 == 0 ? down.origin : healthy.origin) }
        try fixture.register(drafts)
        var settings = try fixture.settings()
        settings.attempts = 16
        settings.outbound.waitablePause = .milliseconds(10)
        try fixture.running(settings) { _ in
            try fixture.publish(drafts)
            try eventually("the healthy one has all, nothing lags, and the ladder has been climbed") {
                try healthy.counts.count == 500 && fixture.lag() == 0
                    && fixture.records(on: fixture.topics.retries[2]).count >= 500
            }
            #expect(try fixture.reasons() == [])
            #expect(try fixture.retryLag() > 0)
            down.behave { _ in .regular }
            try fixture.untilDone()
        }
        #expect(down.counts.count == 500)
        #expect(try fixture.reasons() == [])
        #expect(fixture.metric("posthorn_dispatch_shed_total") > 0)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `K4: everything while lanes come and go, whatever waits where`() throws {
        let fixture = try Fixture(partitions: 4)
        let flaky = try TestGateway { $0.batch % 3 == 0 ? .regular : .status(503) }
        let healthy = try TestGateway()
        for gateway in [flaky, healthy] { try fixture.allow(gateway.origin) }
        var settings = try fixture.settings()
        settings.batchItems = 20
        let drafts = (0..<1500).map { Draft($0, at: $0 % 2 == 0 ? flaky.origin : healthy.origin) }
        try fixture.register(drafts)
        try fixture.running(settings) { _ in
            for round in 0..<3 {
                let joining = try RunningLanes(settings, lanes: 1, registry: fixture.registry)
                try fixture.publish(Array(drafts[round * 500..<(round + 1) * 500]))
                try eventually("work goes on while a lane joins") {
                    healthy.counts.count >= (round + 1) * 200
                }
                try joining.stop()
            }
            flaky.behave { _ in .regular }
            try fixture.untilDone()
        }
        #expect(flaky.counts.count == 750)
        #expect(healthy.counts.count == 750)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }
}
