import HTTPClient
import HTTPServer
import LocalServices
import Simulation
import Support
import Testing

/// What a script does to connections, as a sender meets it.
struct ScriptedConnectionTests {
    private static let body = Sample.batch([Sample.item("a")])

    private static func origin(
        _ connections: [GatewayScript.Connection],
        tls: [String: Server.TLSPaths] = [:]
    ) -> GatewayScript.Origin {
        GatewayScript.Origin(
            tls: tls,
            phases: connections.enumerated().map {
                GatewayScript.Phase(name: "\($0)", connection: $1)
            }
        )
    }

    private static func paths(_ pair: TestAuthority.Pair) -> Server.TLSPaths {
        Server.TLSPaths(certificate: pair.certificate, key: pair.key)
    }

    private static func trust(
        _ authority: TestAuthority,
        showing pair: TestAuthority.Pair? = nil
    ) throws -> TLSIdentity {
        try TLSIdentity(
            authorities: Files.read(authority.path),
            certificates: pair.flatMap { Files.read($0.certificate) },
            key: pair.flatMap { Files.read($0.key) }
        )
    }

    @Test func `without TLS connections are closed, reset, left hanging or talked nonsense to`() throws {
        let player = ScriptPlayer(Self.origin([.serve(), .close, .reset, .hang, .garbage]))
        let ledger = GatewayLedger()
        var harness = try GatewayHarness(player, ledger: ledger)
        #expect(try harness.post(Self.body).status == 200)
        for phase in ["1", "2"] {
            #expect(player.enter(phase))
            // A reset may come before the client has noticed that it was connected.
            let result = try harness.exchange(Self.body)
            #expect(result.isFailure(.aborted) || result.isFailure(.connect), "\(result)")
        }
        #expect(player.enter("3"))
        #expect(try harness.exchange(Self.body, total: .milliseconds(500)).isFailure(.timeout))
        #expect(player.enter("4"))
        guard case .failure(.malformed) = try harness.exchange(Self.body) else {
            Issue.record("nonsense was understood")
            return
        }
        #expect(player.enter("0"))
        #expect(try harness.post(Self.body).status == 200)
        #expect(harness.received.all.count == 2)
        #expect((ledger.counts.origins["gateway"]?.turnedAway ?? 0) >= 4)
    }

    @Test func `certificates change with the phases, also for who is connected`() throws {
        let authority = try TestAuthority()
        let stranger = try TestAuthority()
        let tls = [
            "default": Self.paths(try authority.issue("good", for: .server)),
            "expired": Self.paths(try authority.issue("old", for: .server, hasExpired: true)),
            "stranger": Self.paths(try stranger.issue("other", for: .server)),
        ]
        let player = ScriptPlayer(
            Self.origin(
                [
                    .serve(), .serve(identity: "expired"), .serve(identity: "stranger"), .close, .garbage,
                ],
                tls: tls
            )
        )
        var harness = try GatewayHarness(player)
        let identity = try Self.trust(authority)
        func result() throws -> Result<HTTPClient.Response, Failure> {
            try harness.exchange(Self.body, identity: identity)
        }
        #expect(try result().get().status == 200)
        #expect(player.enter("1"))
        #expect(try result().isFailure(.tlsHandshake(.expired)))
        #expect(player.enter("2"))
        #expect(try result().isFailure(.tlsHandshake(.unknownAuthority)))
        #expect(player.enter("3"))
        guard case .failure(let closed) = try result() else {
            Issue.record("a closed handshake was answered")
            return
        }
        #expect([.aborted, .tlsHandshake(.other)].contains(closed))
        #expect(player.enter("4"))
        #expect(try result().isFailure(.tlsHandshake(.other)))
        #expect(player.enter("0"))
        #expect(try result().get().status == 200)
        #expect(harness.received.all.count == 2)
        let isDone = harness.gateway.drain(within: .seconds(20))
        #expect(isDone)
    }

    @Test(arguments: [false, true])
    func `a client certificate is demanded in the answer or in the handshake`(endsHandshake: Bool) throws {
        let authority = try TestAuthority()
        let pair = try authority.issue("good", for: .server)
        var paths = Self.paths(pair)
        paths.clientAuthorities = authority.path
        paths.endsHandshake = endsHandshake
        var harness = try GatewayHarness(Self.origin([.serve()], tls: ["default": paths]))
        let refused = try harness.exchange(Self.body, identity: Self.trust(authority))
        if endsHandshake {
            #expect(refused.isFailure(.tlsHandshake(.clientCertificateRefused)))
        } else {
            #expect(try refused.get().status == 401)
        }
        let client = try authority.issue("fachdienst", for: .client)
        let taken = try harness.exchange(Self.body, identity: Self.trust(authority, showing: client))
        #expect(try taken.get().status == 200)
    }

    @Test func `the certificates that a drill needs are made by its script`() throws {
        let folder = try TemporaryFolder(prefix: "posthorn-drill")
        var command = ChildProcess.Command(
            Checkout.path("deploy/drills/make-certificates"),
            ["\(folder.path)/tls"]
        )
        command.output = .file("\(folder.path)/log")
        #expect(try ChildProcess.run(command) == .exited(0), "\(Files.tail("\(folder.path)/log"))")
        let json = try #require(Files.read(Checkout.path("deploy/drills/certificates.json")))
        let script = try GatewayScript(json: json, folder: folder.path)
        let player = ScriptPlayer(script.origins[0])
        var harness = try GatewayHarness(player)
        let identity = try TLSIdentity(authorities: Files.read("\(folder.path)/tls/ca.pem"))
        var failures: [String: Failure] = [:]
        for phase in script.origins[0].phases {
            #expect(player.enter(phase.name))
            if case .failure(let failure) = try harness.exchange(Self.body, identity: identity) {
                failures[phase.name] = failure
            }
        }
        failures["no-handshake"] = nil
        #expect(
            failures == [
                "expired": .tlsHandshake(.expired),
                "unknown-authority": .tlsHandshake(.unknownAuthority),
                "client-certificate": .tlsHandshake(.clientCertificateRefused),
                "no-tls": .tlsHandshake(.other),
            ]
        )
    }
}
