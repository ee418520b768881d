import Testing

@testable import Push

struct BreakerTests {
    private static func settings() -> Breaker.Settings {
        var settings = Breaker.Settings()
        settings.failures = 3
        settings.pause = .seconds(1)
        settings.maximumPause = .seconds(8)
        return settings
    }

    private var jitter = Jitter(seed: 7)

    @Test
    func `it opens after enough failures in a row, not before`() {
        var jitter = jitter
        var breaker = Breaker(Self.settings())
        for verdict in [Breaker.Verdict.failure, .failure, .works, .failure, .failure] {
            let change = breaker.conclude(breaker.depart(), verdict, at: .zero, jitter: &jitter)
            #expect(change == nil)
            #expect(breaker.state == .closed)
        }
        let change = breaker.conclude(breaker.depart(), .failure, at: .zero, jitter: &jitter)
        #expect(change == .opened(.failures))
        guard case .wait(let until) = breaker.permission(at: .zero) else {
            Issue.record("must be open")
            return
        }
        #expect(until >= .milliseconds(500) && until <= .seconds(1))
        #expect(breaker.permission(at: until) == .probe)
    }

    @Test(
        arguments: [
            (Breaker.Verdict.works, Breaker.Change.closed, Breaker.Permission.pass),
            (.failure, .opened(.failures), nil),
            (.fault(.credential), .opened(.fault(.credential)), nil),
            (.throttled(.seconds(60)), .opened(.throttled), nil),
            (.throttled(nil), .opened(.throttled), nil),
        ] as [(Breaker.Verdict, Breaker.Change, Breaker.Permission?)]
    )
    func `the probe decides`(
        verdict: Breaker.Verdict,
        change: Breaker.Change,
        permission: Breaker.Permission?
    ) {
        var jitter = jitter
        var breaker = Breaker(Self.settings())
        _ = breaker.conclude(breaker.depart(), .fault(.configuration), at: .zero, jitter: &jitter)
        let probe = breaker.depart()
        #expect(probe.isProbe)
        #expect(breaker.permission(at: .seconds(100)) == .busy)
        let seen = breaker.conclude(probe, verdict, at: .seconds(100), jitter: &jitter)
        #expect(seen == change)
        if let permission {
            #expect(breaker.permission(at: .seconds(100)) == permission)
        } else if case .wait = breaker.permission(at: .seconds(100)) {
        } else {
            Issue.record("must be open")
        }
    }

    @Test(arguments: [DestinationFault.credential, .configuration, .forbiddenAddress])
    func `one fault opens at once`(fault: DestinationFault) {
        var jitter = jitter
        var breaker = Breaker(Self.settings())
        let change = breaker.conclude(breaker.depart(), .fault(fault), at: .zero, jitter: &jitter)
        #expect(change == .opened(.fault(fault)))
    }

    @Test
    func `pauses double up to the maximum and begin anew after success`() {
        var jitter = jitter
        var breaker = Breaker(Self.settings())
        var now = Duration.zero
        func fail() -> Duration {
            _ = breaker.conclude(breaker.depart(), .fault(.credential), at: now, jitter: &jitter)
            guard case .open(_, let until) = breaker.state else { return .zero }
            defer { now = until }
            return until - now
        }
        for expected in [1, 2, 4, 8, 8, 8] {
            let pause = fail()
            #expect(pause >= .seconds(expected) / 2 && pause <= .seconds(expected), "\(pause)")
        }
        _ = breaker.conclude(breaker.depart(), .works, at: now, jitter: &jitter)
        #expect(breaker.state == .closed)
        let afterwards = fail()
        #expect(afterwards <= .seconds(1))
    }

    @Test
    func `what left before it opened moves nothing but may prolong the pause`() {
        var jitter = jitter
        var breaker = Breaker(Self.settings())
        let old = (0..<4).map { _ in breaker.depart() }
        _ = breaker.conclude(breaker.depart(), .throttled(.seconds(10)), at: .zero, jitter: &jitter)
        let state = breaker.state
        for verdict in [Breaker.Verdict.works, .failure, .fault(.credential)] {
            let change = breaker.conclude(old[0], verdict, at: .zero, jitter: &jitter)
            #expect(change == nil)
            #expect(breaker.state == state)
        }
        _ = breaker.conclude(old[1], .throttled(.seconds(100)), at: .zero, jitter: &jitter)
        #expect(breaker.permission(at: .seconds(99)) != .probe)
        #expect(breaker.permission(at: .seconds(110)) == .probe)
    }

    @Test
    func `a throttle is obeyed to the full and no longer than the maximum`() {
        var jitter = jitter
        var breaker = Breaker(Self.settings())
        _ = breaker.conclude(breaker.depart(), .throttled(.seconds(120)), at: .zero, jitter: &jitter)
        #expect(breaker.permission(at: .milliseconds(119_999)) != .probe)
        #expect(breaker.permission(at: .seconds(132)) == .probe)
        _ = breaker.conclude(
            breaker.depart(),
            .throttled(.seconds(Int64.max / 2)),
            at: .zero,
            jitter: &jitter
        )
        #expect(breaker.permission(at: .seconds(14 * 3600)) == .probe)
    }

    @Test
    func `a probe that never left is free again`() {
        var jitter = jitter
        var breaker = Breaker(Self.settings())
        _ = breaker.conclude(breaker.depart(), .fault(.credential), at: .zero, jitter: &jitter)
        let probe = breaker.depart()
        #expect(breaker.permission(at: .seconds(10)) == .busy)
        breaker.cancel(probe)
        #expect(breaker.permission(at: .seconds(10)) == .probe)
    }
}
