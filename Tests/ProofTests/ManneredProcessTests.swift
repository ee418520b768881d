import Glibc
import LocalServices
import Settings
import Simulation
import Support
import Testing

@testable import posthorn

@Suite(.needsKafka) struct `Workers as an orchestrator sees them` {
    @Test
    func `SIGTERM under load is a drain in time, and whoever comes next repeats nothing`() throws {
        let installation = try Installation()
        let gateway = try SlowGateway(installation, .delayed(.milliseconds(30)))
        let (devices, events) = try load(installation, gateway, 3000)
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        let encrypt = ["encrypt", "--batch", "20"]
        let dispatch = ["dispatch", "--batch-size", "10", "--gateway-requests", "4"]

        let first = [try Role(installation, encrypt), try Role(installation, dispatch)]
        try installation.wait(until: "both are at work") {
            try installation.encrypted() >= 200 && gateway.count >= 200
        }
        let start = ContinuousClock.now
        for worker in first { worker.signal(SIGTERM) }
        for worker in first {
            #expect(worker.end() == .exited(0), "\(worker.words)")
            #expect(worker.words.contains(#""event":"drained""#))
        }
        #expect(ContinuousClock.now - start < .seconds(25), "the deadline that they have by default")
        #expect(gateway.count < expected.count, "it came while there was work")

        let second = [try Role(installation, encrypt), try Role(installation, dispatch)]
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        for worker in second { try worker.drain() }
        let faults = differences(try gateway.items, from: expected, opening: try Devices(devices).open)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
    }

    @Test
    func `a second SIGTERM ends a drain at once, and what was under way is sent again`() throws {
        let installation = try Installation()
        let gateway = try SlowGateway(installation, .doing(.hang))
        let (devices, events) = try load(installation, gateway, 50)
        let encrypt = try Role(installation, "encrypt")
        let dispatch = try Role(installation, "dispatch")
        try installation.wait(until: "requests hang") { gateway.count > 0 }
        let start = ContinuousClock.now
        dispatch.signal(SIGTERM)
        try installation.wait(until: "it says that it drains") {
            try dispatch.answer("/health/ready")?.contains(#""reasons":["draining""#) ?? false
        }
        dispatch.signal(SIGTERM)
        #expect(dispatch.end() == .exited(128 + SIGTERM), "\(dispatch.words)")
        #expect(ContinuousClock.now - start < .seconds(10), "a drain would wait for the gateway for 15 s")

        gateway.behave(.regular)
        let successor = try Role(installation, "dispatch")
        try installation.awaitEncrypted()
        try installation.awaitDelivered()
        for worker in [encrypt, successor] { try worker.drain() }
        let faults = differences(
            try gateway.items,
            from: try expectation(events, for: devices, pushers: try installation.pusherIDs()),
            repeats: true,
            opening: try Devices(devices).open
        )
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
    }

    @Test
    func `metrics and health are served, and readiness tells what is away`() throws {
        let installation = try Installation()
        try installation.run("gateways", "add", "https://gateway.example")
        let encrypt = try Role(installation, "encrypt", "--lanes", "2")
        let dispatch = try Role(installation, "dispatch")
        for (role, name) in [(encrypt, "encrypt"), (dispatch, "dispatch")] {
            try role.awaitReady()
            let live = try #require(try role.answer("/health/live"))
            #expect(
                live.hasPrefix("HTTP/1.1 200") && live.contains(#"{"lane":"\#(name)-0","alive":true"#),
                "\(live)"
            )
            let ready = try #require(try role.answer("/health/ready"))
            #expect(
                ready.hasPrefix("HTTP/1.1 200") && ready.contains(#"{"status":"ready","reasons":[]"#),
                "\(ready)"
            )
            let metrics = try #require(try role.answer("/metrics"))
            #expect(metrics.hasPrefix("HTTP/1.1 200") && metrics.contains("text/plain; version=0.0.4"))
            #expect(metrics.contains("\n# TYPE posthorn_\(name)_received_total counter\n"))
            #expect(metrics.contains("\nposthorn_\(name)_received_total 0\n"), "a count of nothing shows")
            #expect(try role.metric("posthorn_lane_ready") == (name == "encrypt" ? 2 : 1))
            #expect(try role.answer("/")?.hasPrefix("HTTP/1.1 404") == true)
        }
        try installation.execute("ALTER FUNCTION current_month(text) RENAME TO current_month_away")
        try installation.publish([TestEvent(id: "event", user: "ada")])
        try installation.wait(until: "the database is missed") {
            let answer = try encrypt.answer("/health/ready") ?? ""
            return answer.hasPrefix("HTTP/1.1 503") && answer.contains(#""reasons":["database_away"]"#)
        }
        #expect(try encrypt.answer("/health/live")?.hasPrefix("HTTP/1.1 200") == true)
        try installation.execute("ALTER FUNCTION current_month_away(text) RENAME TO current_month")
        try installation.awaitEncrypted()
        try encrypt.awaitReady()
        #expect(try encrypt.metric("posthorn_encrypt_events_total", label: #""no_subscriber""#) == 1)
        for role in [encrypt, dispatch] { try role.drain() }
    }

    /// Devices at the gateway, and as many events, published.
    private func load(
        _ installation: Installation,
        _ gateway: SlowGateway,
        _ count: Int
    ) throws -> ([TestDevice], [TestEvent]) {
        let devices = (0..<count).map { number in
            var device = TestDevice(number)
            device.origin = gateway.origin
            return device
        }
        try installation.register(devices)
        let events = devices.map { TestEvent(id: "event-\($0.number)", user: $0.user) }
        try installation.publish(events)
        return (devices, events)
    }
}

@Suite struct `The command line as a person meets it` {
    private static let syntaxes = Command.all.map(\.syntax)

    @Test
    func `every command's help has every option with its meaning, default and place in the environment`()
        throws
    {
        for syntax in Self.syntaxes {
            let run = try BuiltProgram.run(syntax.path + ["--help"], environment: ["COLUMNS": "100"])
            #expect(run.code == 0 && run.errors.isEmpty, "\(syntax.name)")
            let words = " " + run.output.split { $0.isWhitespace }.joined(separator: " ")
            #expect(words.contains("Usage: posthorn \(syntax.name) "), "\(syntax.name)")
            for option in syntax.options {
                let name = "\(syntax.name) --\(option.name)"
                #expect(words.contains(" --\(option.name) "), "\(name)")
                #expect(words.contains(option.help), "\(name)")
                if let environment = option.environment { #expect(words.contains(environment), "\(name)") }
                if let text = option.defaultText, option.name != "help" {
                    #expect(words.contains("default \(text)"), "\(name)")
                }
            }
        }
    }

    @Test
    func `every command suggests the option that was meant, with exit code 64`() throws {
        for syntax in Self.syntaxes {
            let name = try #require(syntax.options.map(\.name).max { $0.count < $1.count })
            var letters = Array(name)
            letters.remove(at: 2)
            let slip = "--" + String(letters)
            let run = try BuiltProgram.run(syntax.path + [slip])
            #expect(run.code == 64 && run.output.isEmpty, "\(syntax.name)")
            #expect(
                run.errors.contains("\(slip): there is no such option; did you mean --\(name)?"),
                "\(syntax.name): \(run.errors)"
            )
        }
    }

    @Test
    func `a worker tells all faults of its settings at once, with exit code 78, and no secret`() throws {
        let run = try BuiltProgram.run(
            ["encrypt"],
            environment: [
                "POSTHORN_LANES": "many", "POSTHORN_ADMIN_LISTEN": "nowhere", "POSTHORN_ENCRYPT_BATCH": "0",
                "POSTHORN_DRAIN_DEADLINE": "soon", "POSTHORN_DATABASE_URL": "mysql://u:s3cr3t@host/db",
            ]
        )
        #expect(run.code == 78 && run.output.isEmpty)
        #expect(run.errors.hasPrefix("posthorn: 7 faults:\n"), "\(run.errors)")
        for name in [
            "--lanes, from POSTHORN_LANES", "--admin-listen, from POSTHORN_ADMIN_LISTEN",
            "--batch, from POSTHORN_ENCRYPT_BATCH", "--drain-deadline, from POSTHORN_DRAIN_DEADLINE",
            "--database-url, from POSTHORN_DATABASE_URL", "--bootstrap-servers", "--key-file",
        ] {
            #expect(run.errors.contains("\n  \(name): "), "\(name): \(run.errors)")
        }
        #expect(!run.errors.contains("s3cr3t"))
    }
}
