import HTTPServer
import LocalServices
import Push
import Simulation
import Support
import Testing

struct ScriptReadingTests {
    private static func script(_ text: String) throws(ScriptError) -> GatewayScript {
        try GatewayScript(json: Array(text.utf8), folder: "/etc/drill")
    }

    private static func phase(_ fields: String) -> String {
        #"{"origins":[{"phases":[{"name":"a",\#(fields)}]}]}"#
    }

    @Test func `every field is read`() throws {
        let script = try Self.script(
            """
            {"seed": 9, "origins": [{
              "name": "g", "listen": "127.0.0.1:8443", "repeat": true, "request_limit_kb": 512,
              "tls": {"default": {"certificate": "a.pem", "key": "/k.pem", "client_ca": "c.pem", "client": "refused"}},
              "phases": [
                {"name": "p", "lasts_s": 1.5, "requests": 3, "manner": "reference", "known_apps": ["a.apns"],
                 "connection": {"certificate": "default"},
                 "rules": [{
                   "path": "/push/v1/notify", "apps": ["a.*"], "share": 0.5, "delay_ms": [10, 20], "status": 429,
                   "body": "b", "content_type": "text/plain", "retry_after": {"date_in_s": 30},
                   "trickle": {"bytes": 7, "every_ms": 50}, "break_off_bytes": 70, "order": "by_id", "unset": "null",
                   "summary": "absent", "unknown_ids": 2, "forget": true,
                   "items": [{"apps": ["x"], "pushkeys": ["k"], "share": 0.25, "by": "pushkey",
                              "outcome": "reject_unknown", "error": "e"}]}]},
                {"name": "q", "connection": "garbage", "requests": 1, "rules": [
                   {"answer": "bad_json", "retry_after": 7, "delay_ms": 5}, {"truncate_bytes": 3, "retry_after": "soon"}]}
              ]}]}
            """
        )
        let tls = Server.TLSPaths(
            certificate: "/etc/drill/a.pem",
            key: "/k.pem",
            clientAuthorities: "/etc/drill/c.pem",
            endsHandshake: true
        )
        let first = GatewayScript.Rule(
            path: "/push/v1/notify",
            apps: ["a.*"],
            share: 0.5,
            delay: .milliseconds(10) ... .milliseconds(20),
            action: .status(429, body: "b", type: "text/plain"),
            retryAfter: .date(after: 30),
            pace: Pace(bytes: 7, every: .milliseconds(50), breaksOffAfter: 70),
            order: .byID,
            unset: .null,
            summary: .absent,
            unknownIDs: 2,
            forgets: true,
            items: [
                GatewayScript.ItemRule(
                    apps: ["x"],
                    pushkeys: ["k"],
                    share: 0.25,
                    byPushkey: true,
                    outcome: .rejectUnknown,
                    error: "e"
                )
            ]
        )
        let delay = Duration.milliseconds(5)
        let expected = GatewayScript.Origin(
            name: "g",
            listen: ListenAddress(host: "127.0.0.1", port: 8443),
            tls: ["default": tls],
            requestLimit: 512 << 10,
            phases: [
                GatewayScript.Phase(
                    name: "p",
                    lasts: .seconds(1.5),
                    requests: 3,
                    manner: .reference(knownApps: ["a.apns"]),
                    connection: .serve(identity: "default"),
                    rules: [first]
                ),
                GatewayScript.Phase(
                    name: "q",
                    requests: 1,
                    connection: .garbage,
                    rules: [
                        GatewayScript.Rule(delay: delay...delay, action: .badJSON, retryAfter: .seconds(7)),
                        GatewayScript.Rule(action: .truncate(3), retryAfter: .text("soon")),
                    ]
                ),
            ],
            repeats: true
        )
        #expect(script == GatewayScript(seed: 9, origins: [expected]))
    }

    @Test(arguments: [
        ("", 1, "", "ends too early"),
        ("{}", 1, "origins", "missing"),
        ("{\n\n \"origin\": []}", 3, "origin", "unknown field"),
        (#"{"origins":[]}"#, 1, "origins", "must have 1 to 32 elements"),
        (#"{"origins":[{"phases":[]}]}"#, 1, "origins[0].phases", "must have 1 to 100 elements"),
        (#"{"origins":[{"name":"a b"}]}"#, 1, "origins[0].name", "must be 1 to 64 letters, digits, - or _"),
        (#"{"origins":[{"phases":[{"requests":1}]}]}"#, 1, "origins[0].phases[0].name", "missing"),
        (
            phase(#""lasts_s":0"#), 1, "origins[0].phases[0].lasts_s",
            "must be a number from 0.001 to 604800.0"
        ),
        (
            phase(#""rules":[{"share":1.5}]"#), 1, "origins[0].phases[0].rules[0].share",
            "must be a number from 0.0 to 1.0"
        ),
        (
            phase(#""rules":[{"delay_ms":-1}]"#), 1, "origins[0].phases[0].rules[0].delay_ms",
            "must be a whole number from 0 to 3600000"
        ),
        (
            phase(#""rules":[{"delay_ms":[2,1]}]"#), 1, "origins[0].phases[0].rules[0].delay_ms",
            "must be [from, to] with from at most to"
        ),
        (
            phase(#""rules":[{"status":99}]"#), 1, "origins[0].phases[0].rules[0].status",
            "must be a whole number from 200 to 599"
        ),
        (
            phase(#""rules":[{"status":500,"answer":"hang"}]"#), 1, "origins[0].phases[0].rules[0]",
            "only one of status, answer and truncate_bytes"
        ),
        (
            phase(#""rules":[{"body":"x"}]"#), 1, "origins[0].phases[0].rules[0]",
            "body and content_type go with status"
        ),
        (
            phase(#""rules":[{"order":"up"}]"#), 1, "origins[0].phases[0].rules[0].order",
            "must be one of submitted, reversed, by_id, random"
        ),
        (phase(#""rules":[{"items":[{}]}]"#), 1, "origins[0].phases[0].rules[0].items[0].outcome", "missing"),
        (phase(#""known_apps":[]"#), 1, "origins[0].phases[0]", "known_apps goes with the manner reference"),
        (
            phase(#""connection":{"certificate":"old"}"#), 1, "origins[0]",
            "phase a has a certificate that tls does not name"
        ),
        (
            #"{"origins":[{"phases":[{"name":"a"},{"name":"a"}]}]}"#, 1, "origins[0]",
            "the names of its phases must differ"
        ),
        (
            #"{"origins":[{"repeat":true,"phases":[{"name":"a"},{"name":"b","requests":1}]}]}"#, 1,
            "origins[0]", "a phase that never ends leaves nothing to repeat"
        ),
        (
            #"{"origins":[{"phases":[{"name":"a"}]},{"phases":[{"name":"a"}]}]}"#, 1, "origins",
            "names must differ"
        ),
        (
            #"{"origins":[{"listen":"nowhere","phases":[{"name":"a"}]}]}"#, 1, "origins[0].listen",
            "must be HOST:PORT"
        ),
        (#"{"seed":1,"seed":2}"#, 1, "seed", "member named twice"),
    ])
    func `what is wrong is told with line, field and limit`(
        text: String,
        line: Int,
        field: String,
        reason: String
    ) {
        let error = #expect(throws: ScriptError.self) { try Self.script(text) }
        #expect(error?.line == line)
        #expect(error?.field == field)
        #expect(error?.reason == reason)
    }

    @Test func `a script has at most a mebibyte`() {
        let text = #"{"origins":[{"phases":[{"name":"a"}]}]}"#
        let room = String(repeating: " ", count: GatewayScript.longest - text.utf8.count)
        #expect(throws: Never.self) { try Self.script(text + room) }
        #expect(throws: ScriptError.self) { try Self.script(text + room + " ") }
    }

    @Test(arguments: [
        ("slow-gateway", 1), ("half-failing", 1), ("down-for-ten-minutes", 5), ("all-dead", 2),
        ("throttling", 4),
        ("reference-gateway", 4), ("broken-answers", 1), ("certificates", 6),
    ])
    func `the drills that come with it are scripts`(name: String, phases: Int) throws {
        let json = try #require(Files.read(Checkout.path("deploy/drills/\(name).json")))
        let script = try GatewayScript(json: json)
        #expect(script.origins.map(\.phases.count) == [phases])
    }
}
