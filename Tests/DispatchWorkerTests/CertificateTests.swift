import DispatchWorker
import HTTPServer
import Kafka
import Lanes
import LocalServices
import Push
import Simulation
import Support
import Testing

@Suite struct `Dispatch renews certificates` {
    private func text(_ path: String) -> String {
        String(decoding: Files.read(path) ?? [], as: UTF8.self)
    }

    private func stops(_ fixture: Fixture, _ gateway: TestGateway) -> Int {
        fixture.metric(
            #"posthorn_dispatch_stops_total{gateway="\#(gateway.origin)",reason="credential"}"#
        )
    }

    @Test(.needsKafka)
    func `H9: an unknown authority stops the gateway, until the file is replaced`() throws {
        let fixture = try Fixture()
        let authority = try TestAuthority()
        let stranger = try TestAuthority()
        let pair = try authority.issue("gateway", for: .server)
        let gateway = try TestGateway(tls: .init(certificate: pair.certificate, key: pair.key))
        let trusted = "\(stranger.folder.path)/trusted.pem"
        try Files.write(String(decoding: Files.read(stranger.path) ?? [], as: UTF8.self), to: trusted)
        try fixture.allow(gateway.origin, authorities: trusted)
        try fixture.publish((0..<20).map { Draft($0, at: gateway.origin) }, registering: true)
        try fixture.running { _ in
            try eventually("the gateway is stopped for its certificate") {
                fixture.metric(
                    #"posthorn_dispatch_stops_total{gateway="\#(gateway.origin)",reason="credential"}"#
                ) > 0
            }
            #expect(gateway.arrivals.isEmpty)
            try Files.write(String(decoding: Files.read(authority.path) ?? [], as: UTF8.self), to: trusted)
            try fixture.untilDone()
        }
        #expect(gateway.counts.count == 20)
        #expect(try fixture.reasons() == [])
    }

    @Test(.needsKafka)
    func `H9: an expired certificate of a gateway stops it, until the gateway has a new one`() throws {
        let fixture = try Fixture()
        let authority = try TestAuthority()
        let expired = try authority.issue("expired", for: .server, hasExpired: true)
        let fresh = try authority.issue("fresh", for: .server)
        let gateway = try TestGateway(
            tls: .init(certificate: expired.certificate, key: expired.key, lookEvery: .milliseconds(100))
        )
        try fixture.allow(gateway.origin, authorities: authority.path)
        let drafts = (0..<20).map { Draft($0, at: gateway.origin) }
        try fixture.publish(drafts, registering: true)
        try fixture.running { _ in
            try eventually("the gateway is stopped") { fixture.stopped(gateway) == ["credential": 1] }
            try Files.write(text(fresh.key), to: expired.key)
            try Files.write(text(fresh.certificate), to: expired.certificate)
            try fixture.untilDone()
        }
        #expect(gateway.counts.count == 20)
        #expect(fixture.stopped(gateway).isEmpty)
        #expect(try fixture.reasons() == [])
        #expect(try fixture.pushkeys().count == 20)
    }

    @Test(.needsKafka)
    func `H9: a new client certificate is shown without a restart; a half-written one is not, with an alarm`()
        throws
    {
        let fixture = try Fixture()
        let authority = try TestAuthority()
        let server = try authority.issue("gateway", for: .server)
        let used = try authority.issue("one", for: .client)
        let two = try authority.issue("two", for: .client)
        let gateway = try TestGateway(
            tls: .init(certificate: server.certificate, key: server.key, clientAuthorities: authority.path)
        )
        try fixture.allow(gateway.origin, authorities: authority.path, client: used)
        var number = 0
        func send() throws {
            try fixture.publish(
                (number..<number + 10).map { Draft($0, at: gateway.origin) },
                registering: true
            )
            number += 10
            try fixture.untilDone()
        }
        let fault = #"posthorn_dispatch_certificate_fault{gateway="\#(gateway.origin)"}"#
        try fixture.running { lanes in
            try send()
            #expect(Set(gateway.arrivals.map(\.client)) == ["CN=one"])
            try Files.write(String(text(two.certificate).prefix(200)), to: used.certificate)
            try eventually("the alarm is there") { fixture.metric(fault) == 1 }
            try send()
            #expect(Set(gateway.arrivals.map(\.client)) == ["CN=one"])
            #expect(lanes.statuses[0].condition == .ready)
            try Files.write(text(two.certificate), to: used.certificate)
            try Files.write(text(two.key), to: used.key)
            try eventually("the alarm is over") { fixture.metric(fault) == 0 }
            try send()
            #expect(gateway.arrivals.last?.client == "CN=two")
        }
        #expect(gateway.counts.count == 30)
        #expect(gateway.counts.values.allSatisfy { $0 == 1 })
        #expect(try fixture.reasons() == [])
    }

    @Test(.needsKafka)
    func `a client certificate that the gateway does not take keeps everything, until it is replaced`() throws
    {
        let fixture = try Fixture()
        let authority = try TestAuthority()
        let stranger = try TestAuthority()
        let server = try authority.issue("gateway", for: .server)
        let right = try authority.issue("right", for: .client)
        let used = try stranger.issue("wrong", for: .client)
        let gateway = try TestGateway(
            tls: .init(certificate: server.certificate, key: server.key, clientAuthorities: authority.path)
        )
        try fixture.allow(gateway.origin, authorities: authority.path, client: used)
        let drafts = (0..<20).map { Draft($0, at: gateway.origin) }
        try fixture.publish(drafts, registering: true)
        try fixture.running { _ in
            try eventually("the gateway is stopped") { fixture.stopped(gateway) == ["credential": 1] }
            #expect(gateway.items.isEmpty)
            #expect(try fixture.reasons() == [])
            try Files.write(text(right.key), to: used.key)
            try Files.write(text(right.certificate), to: used.certificate)
            try fixture.untilDone()
        }
        #expect(gateway.counts.count == 20)
        #expect(try fixture.pushkeys().count == 20)
        #expect(fixture.stopped(gateway).isEmpty)
    }
}
