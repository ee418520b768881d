import LocalServices
import Push
import Support
import Testing

/// What an outsider scripts against: names, options, output and exit codes, with nothing but the program.
@Suite(.needsKafka) struct `The whole way by hand` {
    private let installation: Installation
    private let authority: TestAuthority
    private var ada = TestDevice(1, user: "ada")
    private var bob = TestDevice(2, user: "bob")
    private var cyd = TestDevice(3, user: "cyd")

    init() throws {
        installation = try Installation(isPrepared: false)
        authority = try TestAuthority()
    }

    @Test mutating func `from an empty database to the opened messages, over mutual TLS`() throws {
        try prepare()
        let gateway = try simulate(tls: true)
        let old = try simulate(tls: false)
        try addGateways(gateway.origin, old.origin)
        ada.origin = gateway.origin
        bob.origin = gateway.origin
        cyd.origin = old.origin
        cyd.path = "/push/v1/notify"
        let registrations = try register()
        try publish()

        let workers = [try Role(installation, "encrypt"), try Role(installation, "dispatch")]
        try installation.awaitEncrypted()
        try installation.wait(until: "the gateway refuses who shows no certificate") {
            try workers[1].metric("posthorn_dispatch_stops_total", label: gateway.origin) > 0
        }
        #expect(Files.read(gateway.record)?.isEmpty == true)
        try showCertificate(gateway.origin)
        try installation.awaitDelivered()
        for worker in workers { try worker.drain() }
        for role in [gateway.role, old.role] { try role.drain() }
        #expect(
            gateway.role.written.hasSuffix("2 items in 1 requests\n")
                || gateway.role.written.hasSuffix("2 items in 2 requests\n")
        )
        #expect(old.role.written.hasSuffix("1 items in 1 requests\n"))

        try openRecords(gateway, old, registrations)
        try openOne(gateway.record)
        try takeDown(gateway.origin)
    }

    // MARK: - Steps

    private func prepare() throws {
        #expect(try run("migrate").hasPrefix("0001_registrations.sql applied\n"))
        #expect(try run("migrate") == "the schema is up to date\n")
        try installation.setMonth(Month("2026-10")!)
        #expect(try run("keys", "generate", "--id", "first") == "first\n")
        let prefix = installation.topics.prefix
        let missing = try run("topics", "check", "--partitions", "3", endsWith: 65)
        #expect(missing.hasPrefix("\(prefix)push.triggers: is missing\n"))
        let created = try run("topics", "create", "--partitions", "3", "--replication", "1")
        #expect(created.hasPrefix("\(prefix)push.triggers created\n\(prefix)push.triggers.dlq created\n"))
        #expect(created.split(separator: "\n").allSatisfy { $0.hasSuffix(" created") })
        #expect(
            try run("topics", "create", "--partitions", "3") == created.replacing(" created", with: " exists")
        )
        let check = ["topics", "check", "--partitions", "3", "--replication", "1"]
        #expect(try installation.run(check) == "all topics are as they should be\n")
        let differs = try run("topics", "check", endsWith: 65)
        #expect(differs.hasPrefix("\(prefix)push.triggers: partitions is 3 instead of 12\n"))
        let added = try run(
            "channels",
            "add",
            "news",
            "--trigger-type",
            "example.news",
            "--default",
            "enabled"
        )
        #expect(added == "news added\n")
        #expect(
            try run("channels", "list", "--json")
                == #"{"id":"news","default":"enabled","allow_plain":false,"trigger_types":["example.news"]}"#
                + "\n"
        )
    }

    private func simulate(tls: Bool) throws -> (role: Role, origin: String, record: String) {
        let record = "\(installation.folder.path)/\(uniqueName("received"))"
        var words = ["simulate", "gateway", "--listen", "127.0.0.1:0", "--record", record]
        if tls {
            let pair = try authority.issue("gateway", for: .server)
            words += ["--tls-cert", pair.certificate, "--tls-key", pair.key, "--client-ca", authority.path]
        }
        let role = try Role(installation, words)
        try installation.wait(until: "the gateway listens") { role.written.contains("\n") }
        let line = try #require(role.written.split(separator: "\n").first)
        #expect(line.hasPrefix("listening on \(tls ? "https" : "http")://127.0.0.1:"))
        let origin = line.dropFirst("listening on ".count)
        return (role, tls ? String(origin).replacing("127.0.0.1", with: "localhost") : String(origin), record)
    }

    private func addGateways(_ new: String, _ old: String) throws {
        _ = try run("gateways", "add", old, "--dialect", "concept-2024", endsWith: 64)
        let flags = ["--allow-private", "--insecure", "--dialect", "concept-2024"]
        #expect(try installation.run(["gateways", "add", old] + flags) == "\(old) added\n")
        let added = try run("gateways", "add", new, "--allow-private", "--ca-file", authority.path)
        #expect(added == "\(new) added\n")
        let list = try run("gateways", "list", "--json")
        #expect(
            list.contains(
                #"{"origin":"\#(old)","dialect":"concept-2024","allow_private":true,"insecure":true,"#
            )
        )
        #expect(
            list.contains(
                #"{"origin":"\#(new)","dialect":"gematik-1.2","allow_private":true,"insecure":false,"#
            )
        )
    }

    /// Workers take it without a restart.
    private func showCertificate(_ origin: String) throws {
        let pair = try authority.issue("fachdienst", for: .client)
        let add = [
            "gateways", "add", origin, "--allow-private", "--ca-file", authority.path, "--client-cert",
            pair.certificate, "--client-key", pair.key,
        ]
        #expect(try installation.run(add) == "\(origin) changed\n")
        #expect(try installation.run(add) == "\(origin) unchanged\n")
    }

    /// - Returns: the file with the registrations.
    private func register() throws -> String {
        let lines = [ada, bob, cyd].map(\.importLine)
        let bad = ada.importLine.replacing(#""lang":"de","#, with: "")
        let first = try BuiltProgram.run(
            ["pushers", "import", "-"],
            environment: installation.environment,
            input: "\(bad)\n\(lines[0])\n"
        )
        #expect(first.code == 65)
        #expect(
            first.errors.hasPrefix("posthorn: line 1: ") && first.errors.contains("lang"),
            "\(first.errors)"
        )
        #expect(first.output.hasPrefix("1 registered, 0 removed, 0 of other users displaced, 1 bad lines; "))
        let file = try installation.write(lines, as: "registrations.ndjson")
        let all = try run("pushers", "import", file, "--json")
        #expect(all.hasPrefix(#"{"registered":3,"removed":0,"displaced":0,"bad":0,"#), "\(all)")
        #expect(try run("pushers", "count") == "3\n")
        #expect(try run("pushers", "count", "--user", "ada", "--json") == #"{"pushers":1}"# + "\n")
        return file
    }

    private func publish() throws {
        let events = ["ada", "bob", "cyd", "nobody"].map { TestEvent(id: "event-\($0)", user: $0).line }
        let bad = #"{"specversion":"1.0","id":"1","source":"/proofs","type":"example.news"}"#
        let first = try BuiltProgram.run(
            ["publish", "--strict", "-"],
            environment: installation.environment,
            input: "\(bad)\n\(events[0])\n"
        )
        #expect(first.code == 65)
        #expect(first.errors.contains("line 1: subject: is missing or empty"), "\(first.errors)")
        #expect(first.output.hasPrefix("0 sent, 1 bad lines, 0 not delivered; "))
        let file = try installation.write(events, as: "events.ndjson")
        #expect(try run("publish", file, "--json").hasPrefix(#"{"sent":4,"bad":0,"failed":0,"#))
    }

    private func openRecords(
        _ new: (role: Role, origin: String, record: String),
        _ old: (role: Role, origin: String, record: String),
        _ registrations: String
    ) throws {
        let open = ["device", "open", "--registrations", registrations, "--received"]
        let ids = try expectation(
            ["ada", "bob"].map { TestEvent(id: "event-\($0)", user: $0) },
            for: [ada, bob],
            pushers: try installation.pusherIDs()
        )
        let lines = try installation.run(open + [new.record]).split(separator: "\n").sorted()
        let expected = ids.map { id, wanted in
            let user = wanted.pushkey == ada.pushkey ? "ada" : "bob"
            return #"{"id":"\#(id)","user":"\#(user)","pushkey":"\#(wanted.pushkey)","#
                + #""plaintext":"{\"event\":\"event-\#(user)\"}"}"#
        }
        #expect(lines == expected.sorted().map { $0[...] })
        #expect(
            try installation.run(open + [old.record])
                == #"{"id":null,"user":"cyd","pushkey":"device-3","plaintext":"{\"event\":\"event-cyd\"}"}"#
                + "\n"
        )
        let strangers = try installation.write([cyd.importLine], as: "strangers.ndjson")
        let unknown = try run(
            "device",
            "open",
            "--registrations",
            strangers,
            "--received",
            new.record,
            endsWith: 65
        )
        #expect(unknown.split(separator: "\n").allSatisfy { $0.contains(#""error":""#) })
    }

    private func openOne(_ record: String) throws {
        let item = try #require(SealedItem.items(ofRecord: record).first { $0.pushkey == ada.pushkey })
        let open = ["device", "open", "--iss-month", "2026-10", "--month", item.month]
        let right = open + ["--iss", ada.hex, "--ciphertext"]
        #expect(item.ciphertext.utf8.count == 1404)
        #expect(try installation.run(right + [item.ciphertext]) == #"{"event":"event-ada"}"#)
        #expect(try installation.run(right + ["-"], input: item.ciphertext) == #"{"event":"event-ada"}"#)
        let wrong = try BuiltProgram.run(
            open + ["--iss", bob.hex, "--ciphertext", item.ciphertext],
            environment: installation.environment
        )
        #expect(wrong.code == 65)
        #expect(wrong.output.isEmpty)
        #expect(wrong.errors.count { $0 == "\n" } == 1, "one line: \(wrong.errors)")
        #expect(!wrong.errors.contains(bob.hex))
        _ = try installation.run(open, endsWith: 64)
    }

    private func takeDown(_ origin: String) throws {
        _ = try run("gateways", "remove", origin, endsWith: 65)
        #expect(try run("pushers", "remove", "--user", "ada") == "1 removed\n")
        #expect(try run("pushers", "remove", "--user", "bob") == "1 removed\n")
        _ = try run("gateways", "remove", origin)
        #expect(try run("pushers", "count") == "1\n")
    }

    private func run(_ words: String..., endsWith code: Int32 = 0) throws -> String {
        try installation.run(words, endsWith: code)
    }
}
