import Testing

@testable import Settings

struct ResolutionTests {
    @Test func `arguments win over the environment, it over the file, the file over the default`() throws {
        let environment = ["POSTHORN_LANES": "3", "POSTHORN_CONFIG": "settings"]
        let file = "POSTHORN_LANES=2\n"
        let all = try Example.resolve(
            Example.importing,
            ["--lanes", "4"],
            environment: environment,
            file: file
        )
        #expect(all[Example.lanes] == 4)
        #expect(try Example.resolve(environment: environment, file: file)[Example.lanes] == 3)
        #expect(
            try Example.resolve(environment: ["POSTHORN_CONFIG": "settings"], file: file)[Example.lanes] == 2
        )
        #expect(try Example.resolve()[Example.lanes] == 1)
    }

    @Test func `every default is told by its own type`() throws {
        let values = try Example.resolve()
        #expect(values[Example.linger] == .milliseconds(5))
        #expect(values[Example.limit] == .kilobytes(256))
        #expect(values[Example.instance] == nil)
        #expect(values[Example.dialect] == .gematik)
        #expect(values[Example.strict] == false)
        #expect(values[Example.types] == [])
        #expect(values[Example.listen].port == 0)
        #expect(values[Example.input] == "-")
        #expect(!values.isGiven(Example.lanes))
    }

    @Test(arguments: [
        ["--instance=a"], ["--instance", "a"], ["-i", "a"], ["-ia"], ["-i=a"], ["-ji", "a"],
        ["--instance", "b", "--instance", "a"],
    ])
    func `an option is written in every usual way, and the last one counts`(words: [String]) throws {
        #expect(try Example.resolve(Example.importing, words)[Example.instance] == "a")
    }

    @Test func `flags are set, combined and switched off`() throws {
        let both = try Example.resolve(Example.importing, ["-sj"])
        #expect(both[Example.strict] && both[Example.json])
        let environment = ["POSTHORN_STRICT": "yes"]
        #expect(try Example.resolve(environment: environment)[Example.strict])
        #expect(
            try !Example.resolve(Example.importing, ["--no-strict"], environment: environment)[Example.strict]
        )
        #expect(
            try !Example.resolve(Example.importing, ["--strict=false"], environment: environment)[
                Example.strict
            ]
        )
    }

    @Test func `repeated options keep their order, and one variable holds several`() throws {
        let words = ["-t", "one", "--trigger-type=two"]
        #expect(try Example.resolve(Example.importing, words)[Example.types] == ["one", "two"])
        let values = try Example.resolve(environment: ["POSTHORN_TRIGGER_TYPE": "one,two"])
        #expect(values[Example.types] == ["one", "two"])
    }

    @Test func `two dashes end the options, and one alone is an argument`() throws {
        #expect(try Example.resolve(Example.importing, ["--", "--strict"])[Example.input] == "--strict")
        #expect(try Example.resolve(Example.importing, ["-", "--strict"])[Example.input] == "-")
    }

    @Test func `an empty variable counts as not given`() throws {
        #expect(try Example.resolve(environment: ["POSTHORN_LANES": ""])[Example.lanes] == 1)
    }

    @Test func `all faults are listed at once, each with its source and what would be right`() {
        let faults = Example.faults(
            Example.importing,
            ["--lanes", "0", "--stric", "file", "more", "--linger"],
            environment: [
                "POSTHORN_LIMIT": "1TB", "POSTHORN_DIALECT": "gematik-12", "POSTHORN_CONFIG": "settings",
            ],
            file: "# comment\nPOSTHORN_LISTEN = nowhere\nPOSTHORN_LANSE=3\nnonsense\n"
        )
        #expect(
            faults == [
                "--stric: there is no such option; did you mean --strict?",
                "--linger: needs a value: a duration from 0s to 10s with its unit (ms, s, m, h, d)",
                "the line, from settings line 4: is not NAME=value",
                "--lanes: '0' is not an integer from 1 to 64 (threads)",
                "--limit, from POSTHORN_LIMIT: '1TB' is not a size from 1B to 4MB, such as 256KB or 4MB",
                "--dialect, from POSTHORN_DIALECT: 'gematik-12' is not one of gematik-1.2, concept-2024;"
                    + " did you mean gematik-1.2?",
                "--listen, from settings line 2: 'nowhere' is not a HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080",
                "'more': is one argument too many",
                "POSTHORN_LANSE, from settings line 3: there is no such setting; did you mean POSTHORN_LANES?",
            ]
        )
    }

    @Test func `what is missing is told with every place where it may be given`() {
        let faults = Example.faults(Example.encrypt)
        #expect(
            faults == [
                "--bootstrap-servers: is missing; give a text, as POSTHORN_KAFKA_BOOTSTRAP_SERVERS in the environment or in the file",
                "--database-url: is missing; give a URL that begins with postgresql://,"
                    + " as POSTHORN_DATABASE_URL in the environment or in the file",
            ]
        )
        #expect(Example.faults(Example.add) == ["ORIGIN: is missing; give a URL that begins with https://"])
    }

    @Test func `a wrong option is a fault of usage, whatever else is missing`() {
        func isUsage(_ words: [String], _ environment: [String: String] = [:]) -> Bool? {
            do {
                _ = try Example.resolve(Example.encrypt, words, environment: environment)
                return nil
            } catch {
                return error.isUsage
            }
        }
        #expect(isUsage([]) == false)
        #expect(isUsage(["--lnaes", "4"]) == true)
        #expect(isUsage(["--lnaes", "4"], ["POSTHORN_DATABASE_URL": "nowhere"]) == false)
    }

    @Test func `only faults of the command line are faults of usage`() {
        #expect(throws: SettingsError.self) { try Example.resolve(Example.importing, ["--lanes", "0"]) }
        func isUsage(_ words: [String], _ environment: [String: String] = [:]) -> Bool? {
            do {
                _ = try Example.resolve(Example.importing, words, environment: environment)
                return nil
            } catch {
                return error.isUsage
            }
        }
        #expect(isUsage(["--lanes", "0"]) == true)
        #expect(isUsage(["--lanes", "0"], ["POSTHORN_LIMIT": "x"]) == false)
        #expect(isUsage(["--config", "away"]) == true)
        #expect(isUsage([]) == nil)
    }

    @Test
    func `a name of ours that nobody knows is a warning in the environment, as orchestrators add their own`()
        throws
    {
        let environment = [
            "POSTHORN_PORT": "tcp://10.0.0.1:80", "POSTHORN_DATABASE_URL": "of another command", "HOME": "/",
        ]
        let values = try Example.resolve(environment: environment)
        #expect(values.warnings == ["POSTHORN_PORT is in the environment, but no setting has that name"])
    }

    @Test func `a fault names the place of a value that was read well`() throws {
        let values = try Example.resolve(environment: ["POSTHORN_LANES": "2"])
        #expect(
            values.fault(Example.lanes, "is too many").description
                == "--lanes, from POSTHORN_LANES: is too many"
        )
    }

    @Test func `text from outside stays harmless in a complaint`() {
        let faults = Example.faults(
            Example.importing,
            ["--lanes", "\u{1b}[31m" + String(repeating: "x", count: 500)]
        )
        #expect(faults.count == 1)
        #expect(faults.allSatisfy { !$0.contains("\u{1b}") && $0.utf8.count < 200 })
    }
}
