import Push
import Simulation
import Testing

struct ScriptPlayerTests {
    private static func phases(_ phases: [GatewayScript.Phase], repeats: Bool = false) -> GatewayScript.Origin
    {
        GatewayScript.Origin(phases: phases, repeats: repeats)
    }

    private static func failing(_ status: Int) -> [GatewayScript.Rule] {
        [GatewayScript.Rule(action: .status(status))]
    }

    @Test func `phases end by time, and the last goes on`() {
        let hand = HandClock()
        let player = ScriptPlayer(
            Self.phases([
                GatewayScript.Phase(name: "a", lasts: .seconds(60)),
                GatewayScript.Phase(name: "b", lasts: .seconds(30)),
            ]),
            clock: hand.clock
        )
        #expect(player.phase == "a")
        hand.advance(by: .milliseconds(59_999))
        #expect(player.phase == "a")
        hand.advance(by: .milliseconds(1))
        #expect(player.phase == "b")
        hand.advance(by: .seconds(100_000))
        #expect(player.phase == "b")
    }

    @Test func `phases end by requests`() {
        let player = ScriptPlayer(
            Self.phases([
                GatewayScript.Phase(name: "a", requests: 2, rules: Self.failing(503)),
                GatewayScript.Phase(name: "b"),
            ])
        )
        let actions = (1...3).map { _ in player.conduct(for: .batch(["k"])).action }
        #expect(actions == [.refuse(status: 503), .refuse(status: 503), .answer])
    }

    @Test func `phases repeat, also when nobody looked for long`() {
        let hand = HandClock()
        let player = ScriptPlayer(
            Self.phases(
                [
                    GatewayScript.Phase(name: "a", lasts: .seconds(10)),
                    GatewayScript.Phase(name: "b", lasts: .seconds(5)),
                ],
                repeats: true
            ),
            clock: hand.clock
        )
        hand.advance(by: .seconds(15 * 7 + 11))
        #expect(player.phase == "b")
        hand.advance(by: .seconds(4))
        #expect(player.phase == "a")
    }

    @Test func `a phase can be entered by name, from its beginning`() {
        let hand = HandClock()
        let player = ScriptPlayer(
            Self.phases([
                GatewayScript.Phase(name: "a"), GatewayScript.Phase(name: "b", lasts: .seconds(5)),
                GatewayScript.Phase(name: "c"),
            ]),
            clock: hand.clock
        )
        hand.advance(by: .seconds(100))
        #expect(player.enter("b"))
        #expect(player.phase == "b")
        hand.advance(by: .seconds(5))
        #expect(player.phase == "c")
        #expect(!player.enter("d"))
        #expect(player.enter("a"))
        #expect(player.phase == "a")
    }

    @Test func `the same seed gives the same chances, another gives others`() {
        func fates(seed: UInt64) -> [GatewayConduct] {
            let rule = GatewayScript.Rule(
                share: 0.5,
                delay: .zero ... .seconds(1),
                order: .random,
                unknownIDs: 1,
                items: [GatewayScript.ItemRule(share: 0.3, outcome: .fail)]
            )
            let player = ScriptPlayer(Self.phases([GatewayScript.Phase(rules: [rule])]), seed: seed)
            return (0..<50).map { player.conduct(for: .batch(["a\($0)", "b\($0)"])) }
        }
        #expect(fates(seed: 1) == fates(seed: 1))
        #expect(fates(seed: 1) != fates(seed: 2))
    }

    @Test func `a share of requests and one of items are as large as asked`() {
        let rules = [
            GatewayScript.Rule(share: 0.25, action: .status(500)),
            GatewayScript.Rule(items: [GatewayScript.ItemRule(share: 0.1, outcome: .fail)]),
        ]
        let player = ScriptPlayer(Self.phases([GatewayScript.Phase(rules: rules)]), seed: 3)
        let conducts = (0..<4000).map { _ in player.conduct(for: .batch(["k", "l"])) }
        let refused = conducts.count { $0.action == .refuse(status: 500) }
        let failed = conducts.reduce(0) { $0 + $1.failures.count }
        #expect((900...1100).contains(refused))
        #expect((500...700).contains(failed))
    }

    @Test func `a share of devices meets the same ones every time`() {
        let rule = GatewayScript.Rule(
            items: [GatewayScript.ItemRule(share: 0.2, byPushkey: true, outcome: .reject)]
        )
        let player = ScriptPlayer(Self.phases([GatewayScript.Phase(rules: [rule])]), seed: 5)
        let keys = (0..<2000).map { "key-\($0)" }
        let first = player.conduct(for: .batch(keys)).deadPushkeys
        let again = keys.reversed().reduce(into: Set<String>()) {
            $0.formUnion(player.conduct(for: .batch([$1])).deadPushkeys)
        }
        #expect((320...480).contains(first.count))
        #expect(first == again)
    }

    @Test func `the first rule that fits decides, by path, app and key`() {
        let rules = [
            GatewayScript.Rule(path: "/push/v1/notify", action: .hang),
            GatewayScript.Rule(apps: ["org.other.app"], action: .close),
            GatewayScript.Rule(
                apps: ["com.example.*"],
                items: [
                    GatewayScript.ItemRule(pushkeys: ["spared"], outcome: .success),
                    GatewayScript.ItemRule(apps: ["com.example.app.apns"], outcome: .fail, error: "no"),
                ]
            ),
            GatewayScript.Rule(action: .empty),
        ]
        let player = ScriptPlayer(Self.phases([GatewayScript.Phase(rules: rules)]))
        func conduct(_ app: String) -> GatewayConduct {
            player.conduct(for: .batch(["k", "spared"], app: app))
        }
        #expect(conduct("org.other.app").action == .close)
        #expect(conduct("com.example.app.apns").failures == ["0": "no"])
        #expect(conduct("com.example.more").failures.isEmpty)
        #expect(conduct("net.app").action == .respond(status: 200, body: ""))
        var single = GatewayArrival.batch(["k"])
        single.path = "/push/v1/notify"
        #expect(player.conduct(for: single).action == .hang)
    }

    @Test func `a time to come back is seconds, a date or whatever was written`() {
        let hand = HandClock()
        let delay = Duration.seconds(2)
        let times: [GatewayScript.RetryAfter] = [
            .seconds(7), .date(after: 90), .date(after: -5), .text("soon"),
        ]
        let texts = times.map { time in
            let rule = GatewayScript.Rule(delay: delay...delay, action: .status(429), retryAfter: time)
            return ScriptPlayer(Self.phases([GatewayScript.Phase(rules: [rule])]), clock: hand.clock)
                .conduct(for: .batch(["k"])).retryAfter
        }
        #expect(
            texts == ["7", "Mon, 30 Nov 2026 12:01:32 GMT", "Mon, 30 Nov 2026 11:59:57 GMT", "soon"]
        )
        #expect(
            RetryAfter.read(texts[1] ?? "", now: Timestamp(seconds: 1_796_040_000))
                == Timestamp(seconds: 1_796_040_092)
        )
    }
}
