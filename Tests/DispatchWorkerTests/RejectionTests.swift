import DispatchWorker
import Kafka
import Lanes
import Push
import Simulation
import Support
import Synchronization
import Testing

/// Dead keys, real and alleged, from a gateway's answer to the database.
@Suite struct `Rejected keys` {
    private static let causes = #"posthorn_dispatch_rejections_held{"#

    /// Registered pushers and their notifications.
    private func register(_ range: Range<Int>, _ gateway: TestGateway, _ fixture: Fixture) throws -> [Draft] {
        let drafts = range.map { Draft($0, at: gateway.origin) }
        for draft in drafts {
            try fixture.register(draft, at: gateway.origin, registered: draft.registered)
        }
        return drafts
    }

    /// How many open rejections are in which state.
    private func states(_ fixture: Fixture) throws -> String {
        try fixture.text(
            """
            SELECT coalesce(string_agg(state || ' ' || count, ', ' ORDER BY state), '')
            FROM (SELECT state, count(*) FROM open_rejections GROUP BY state) s
            """
        )
    }

    /// Another message to the same pusher.
    private func again(_ draft: Draft, _ number: Int) -> Draft {
        var other = Draft(number, at: draft.origin)
        other.pusher = draft.pusher
        other.user = draft.user
        other.pushkey = draft.pushkey
        return other
    }

    @Test(.needsKafka) func `A18: a single dead key among living ones is deleted at once`() throws {
        let fixture = try Fixture(partitions: 3)
        let gateway = try TestGateway { _ in .rejecting(["key-17"]) }
        try fixture.allow(gateway.origin)
        let drafts = try register(0..<60, gateway, fixture)
        try fixture.publish(drafts)
        try fixture.running(lanes: 3) { _ in
            try fixture.untilDone()
            try eventually("the pusher is gone") { try fixture.pushkeys().count == 59 }
        }
        #expect(try !fixture.pushkeys().contains("key-17"))
        #expect(
            try fixture.text("SELECT reason || ' ' || removed_by FROM pusher_removals")
                == "rejected dispatch/test"
        )
        #expect(fixture.metric("posthorn_dispatch_pushers_deleted_total") == 1)
        #expect(fixture.metric("posthorn_dispatch_rejections_held") == 0)
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka) func `a single dead key, where nothing else is sent, is deleted a few seconds later`()
        throws
    {
        let fixture = try Fixture(partitions: 1)
        let gateway = try TestGateway { arrival in .rejecting(Set(arrival.pushkeys)) }
        try fixture.allow(gateway.origin)
        try fixture.publish(try register(0..<1, gateway, fixture))
        try fixture.running(lanes: 2) { _ in
            try fixture.untilDone()
            try eventually("the pusher is gone", within: .seconds(60)) { try fixture.pushkeys().isEmpty }
        }
        #expect(fixture.metric("posthorn_dispatch_pushers_deleted_total") == 1)
        #expect(try states(fixture) == "")
    }

    @Test(.needsKafka)
    func
        `A18: a wrong credential that makes every key look dead: not one pusher deleted, alarm raised, on all lanes`()
        throws
    {
        let fixture = try Fixture(partitions: 4)
        let gateway = try TestGateway { arrival in .rejecting(Set(arrival.pushkeys)) }
        try fixture.allow(gateway.origin)
        let drafts = try register(0..<1000, gateway, fixture)
        try fixture.running(lanes: 4) { _ in
            // The first ones alone, as a trickle, then the flood.
            try fixture.publish(Array(drafts.prefix(2)))
            try fixture.untilDone()
            try fixture.publish(Array(drafts.dropFirst(2)))
            try fixture.untilDone()
            try? eventually("all are held", within: .seconds(5)) { try states(fixture) == "held 1000" }
            let found = try states(fixture)
            try #require(found == "held 1000", "\(found)")
            try eventually("the alarm tells of all") {
                fixture.metric("posthorn_dispatch_rejections_held") == 1000
            }
        }
        #expect(try fixture.pushkeys().count == 1000)
        #expect(fixture.metric("posthorn_dispatch_pushers_deleted_total") == 0)
        #expect(fixture.outcome("rejected") == 1000)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka)
    func `A18: tokens that worked a moment ago and are all dead now are held, by each lane`()
        throws
    {
        let fixture = try Fixture(partitions: 4)
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let drafts = try register(0..<500, gateway, fixture)
        try fixture.running(lanes: 4) { _ in
            try fixture.publish(drafts)
            try fixture.untilDone()
            gateway.behave { arrival in .rejecting(Set(arrival.pushkeys)) }
            try fixture.publish(drafts.enumerated().map { again($1, 10_000 + $0) })
            try fixture.untilDone()
        }
        #expect(try fixture.pushkeys().count == 500)
        #expect(
            try fixture.text("SELECT count(*)::text FROM open_rejections WHERE state <> 'suspected'") == "500"
        )
    }

    @Test(.needsKafka) func `A held pusher that gets a message again is held no longer`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway { arrival in .rejecting(Set(arrival.pushkeys)) }
        try fixture.allow(gateway.origin)
        let drafts = try register(0..<30, gateway, fixture)
        try fixture.running { _ in
            try fixture.publish(drafts)
            try fixture.untilDone()
            try eventually("the alarm is raised") {
                fixture.metric("posthorn_dispatch_rejections_held") == 30
            }
            gateway.behave { _ in .regular }
            try fixture.publish(drafts.enumerated().map { again($1, 10_000 + $0) })
            try eventually("the alarm is over") {
                fixture.metric("posthorn_dispatch_rejections_held") == 0
            }
        }
        #expect(fixture.metric("posthorn_dispatch_rejections_lapsed_total") == 30)
        #expect(try fixture.pushkeys().count == 30)
        #expect(
            try fixture.text("SELECT count(*)::text FROM rejection_gates WHERE holding_since IS NOT NULL")
                == "0"
        )
    }

    /// As gematik's own gateway does: what the provider refused is told with the next request for that key, once, without sending that one.
    private final class ForgetfulGateway: Sendable {
        private struct State {
            var owed: Set<String> = []
            var refusals: [String: Int] = [:]
        }

        private let state = Mutex(State())

        /// The provider refuses the next `count` messages to the key.
        func refuse(_ key: String, _ count: Int) { state.withLock { $0.refusals[key] = count } }

        func answer(_ arrival: GatewayArrival) -> GatewayConduct {
            state.withLock { state in
                var told: Set<String> = []
                for key in Set(arrival.pushkeys) {
                    if state.owed.remove(key) != nil {
                        told.insert(key)
                    } else if state.refusals[key, default: 0] > 0 {
                        state.refusals[key, default: 0] -= 1
                        state.owed.insert(key)
                    }
                }
                return .rejecting(told)
            }
        }
    }

    @Test(.needsKafka)
    func
        `G3: a gateway with two confirmations: a throttled pusher is kept and gets its message, a dead one goes`()
        throws
    {
        let fixture = try Fixture()
        let provider = ForgetfulGateway()
        let gateway = try TestGateway { provider.answer($0) }
        try fixture.allow(gateway.origin)
        try fixture.execute("UPDATE gateways SET confirm_rejections = 2")
        let drafts = try register(0..<40, gateway, fixture)
        // Throttled once; dead for good.
        provider.refuse("key-1", 1)
        provider.refuse("key-2", 1000)
        try fixture.running { _ in
            for round in 0..<4 {
                try fixture.publish(drafts.map { again($0, 1000 * round + $0.number) })
                try fixture.untilDone()
            }
            try eventually("the dead one is gone") { try !fixture.pushkeys().contains("key-2") }
        }
        #expect(try fixture.pushkeys().count == 39)
        #expect(try fixture.text("SELECT reason FROM pusher_removals") == "confirmed")
        #expect(try fixture.text("SELECT count(*)::text FROM open_rejections") == "0")
        // Each of the living one's messages was taken in the end; the one that the provider refused nobody can know of.
        #expect(gateway.counts.filter { $0.value > 2 }.isEmpty)
        #expect(fixture.metric(#"posthorn_dispatch_rejections_total{verdict="again"}"#) >= 2)
        #expect(try fixture.reasons() == [])
        #expect(fixture.imbalance == 0)
    }

    @Test(.needsKafka) func `G3: by default one rejection deletes at once, as the interface says`() throws {
        let fixture = try Fixture()
        let provider = ForgetfulGateway()
        let gateway = try TestGateway { provider.answer($0) }
        try fixture.allow(gateway.origin)
        let drafts = try register(0..<40, gateway, fixture)
        provider.refuse("key-1", 1)
        try fixture.running { _ in
            for round in 0..<2 {
                try fixture.publish(drafts.map { again($0, 1000 * round + $0.number) })
                try fixture.untilDone()
            }
        }
        #expect(try fixture.pushkeys().count == 39)
        #expect(try !fixture.pushkeys().contains("key-1"))
    }

    @Test(.needsKafka) func `G3: a suspicion outlives the worker that had it`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway { _ in .rejecting(["key-0"]) }
        try fixture.allow(gateway.origin)
        try fixture.execute("UPDATE gateways SET confirm_rejections = 2")
        let drafts = try register(0..<10, gateway, fixture)
        // The message itself is taken as said to be dead once, and then no more.
        let told = Mutex(false)
        gateway.behave { arrival in
            told.withLock { told in
                defer { if arrival.pushkeys.contains("key-0") { told = true } }
                return told ? .regular : .rejecting(["key-0"])
            }
        }
        try fixture.publish(drafts)
        try fixture.running { _ in try fixture.untilDone() }
        #expect(try states(fixture) == "suspected 1")
        #expect(try fixture.pushkeys().count == 10)
        gateway.behave { _ in .rejecting(["key-0"]) }
        try fixture.running { _ in
            try fixture.publish(drafts.map { again($0, 1000 + $0.number) })
            try eventually("the second rejection is believed") { try fixture.pushkeys().count == 9 }
            try fixture.untilDone()
        }
        #expect(try fixture.text("SELECT reason FROM pusher_removals") == "confirmed")
    }

    @Test(.needsKafka) func `A19 M9: what says nothing about a key deletes nobody`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let drafts = try register(0..<6, gateway, fixture)
        let tries = Mutex(0)
        gateway.behave { _ in
            let count = tries.withLock { count in
                count += 1
                return count
            }
            // Each with a body that names a key all the same.
            let statuses = [429, 500, 503, 401, 403, 404]
            guard count <= statuses.count else { return .regular }
            let body = #"{"error":"no","rejected":["key-0"],"results":[]}"#
            return .doing(.respond(status: statuses[count - 1], body: body))
        }
        try fixture.publish(drafts)
        try fixture.drain()
        #expect(try fixture.pushkeys().count == 6)
        #expect(fixture.outcome("delivered") == 6)
    }

    @Test(.needsKafka) func `M9: a message that is too long is refused, and its pusher stays`() throws {
        let fixture = try Fixture()
        let gateway = try TestGateway()
        try fixture.allow(gateway.origin)
        let drafts = try register(0..<8, gateway, fixture)
        let long = drafts[3].id.description
        gateway.behave { arrival in arrival.ids.contains(long) ? .status(413) : .regular }
        try fixture.publish(drafts)
        try fixture.drain()
        #expect(try fixture.pushkeys().count == 8)
        #expect(try fixture.reasons() == ["notification_too_large"])
        #expect(fixture.outcome("rejected") == 0)
    }

    @Test(.needsKafka)
    func `F5: of a batch of eleven the tenth is dead: only its pusher goes, however the answer is ordered`()
        throws
    {
        let fixture = try Fixture()
        let gateway = try TestGateway { _ in
            var conduct = GatewayConduct.rejecting(["key-9"])
            conduct.order = .reversed
            return conduct
        }
        try fixture.allow(gateway.origin)
        try fixture.publish(try register(0..<11, gateway, fixture))
        try fixture.drain()
        #expect(try fixture.pushkeys() == (0..<11).filter { $0 != 9 }.map { "key-\($0)" }.sorted())
    }

    @Test(.needsKafka) func `M10: a removed pusher is on record with reason and time, and its keys are gone`()
        throws
    {
        let fixture = try Fixture()
        let gateway = try TestGateway { _ in .rejecting(["key-1"]) }
        try fixture.allow(gateway.origin)
        try fixture.publish(try register(0..<4, gateway, fixture))
        try fixture.drain()
        let record = try fixture.text("SELECT r::text FROM pusher_removals r")
        #expect(record.contains("user-1") && record.contains("rejected") && !record.contains("key-1"))
        #expect(
            try fixture.text("SELECT (removed_at > now() - interval '10 minutes')::text FROM pusher_removals")
                == "true"
        )
    }
}
