import Lanes
import Telemetry
import Testing

@testable import Hosting

struct AdminTests {
    private static let second: Int64 = 1_000_000_000

    @Test func `liveness tells of each lane whether it still turns`() {
        let statuses = LaneStatus.lanes(named: "encrypt", count: 1)
        let now = Monotonic.now()
        let alive = HealthReport(statuses, isDraining: false, limit: .seconds(60), now: now)
        #expect(alive.isAlive)
        let stuck = HealthReport(
            statuses,
            isDraining: false,
            limit: .seconds(60),
            now: now + 61 * Self.second
        )
        #expect(!stuck.isAlive)
        let text = String(decoding: stuck.liveness(), as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"status":"stuck","lanes":[{"lane":"encrypt-0","alive":false,"seconds_since_turn":61."#
            )
        )
    }

    @Test func `readiness tells why a lane does not work`() throws {
        let statuses = LaneStatus.lanes(named: "encrypt", count: 2)
        let stop = try StopFlag()
        let group = try LaneGroup<Void, Never>(statuses, policy: .stopOthers, stop: stop) { context in
            if context.index == 0 { context.ready() } else { context.notReady("database_away") }
            _ = context.pause(for: .seconds(600))
        }
        defer {
            stop.raise()
            _ = group.join(within: .seconds(30))
        }
        while statuses.contains(where: { $0.condition == .notReady(reason: "starting") }) {}
        let report = HealthReport(statuses, isDraining: false, limit: .seconds(60))
        #expect(
            String(decoding: report.readiness(), as: UTF8.self)
                == #"{"status":"not_ready","reasons":["database_away"],"lanes":[{"lane":"encrypt-0","ready":true},"#
                + #"{"lane":"encrypt-1","ready":false,"reason":"database_away"}]}"# + "\n"
        )
        let draining = HealthReport(statuses, isDraining: true, limit: .seconds(60))
        #expect(draining.reasons == ["draining", "database_away"] && !draining.isReady && draining.isAlive)
    }

    @Test func `the admin address serves metrics and health`() throws {
        let statuses = LaneStatus.lanes(named: "a", count: 1)
        let registry = Registry()
        registry.counter("posthorn_x_total", help: "X.").add(3)
        registry.addLaneMetrics(statuses)
        let routes = AdminRoutes(
            registry: registry,
            statuses: statuses,
            stop: try StopFlag(),
            stuckAfter: .seconds(600)
        )
        let server = try AdminServer(host: "127.0.0.1", port: 0, routes: routes)
        let metrics = try HTTPGet.get("/metrics", port: server.port)
        #expect(metrics.status == 200)
        #expect(metrics.head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"))
        #expect(metrics.body.contains("\nposthorn_x_total 3\n"))
        #expect(metrics.body.contains("\nposthorn_lane_ready{lane=\"a-0\"} 0\n"))
        let live = try HTTPGet.get("/health/live", port: server.port)
        #expect(live.status == 200 && live.body.hasPrefix(#"{"status":"alive""#))
        #expect(live.head.contains("content-type: application/json"))
        let ready = try HTTPGet.get("/health/ready", port: server.port)
        #expect(ready.status == 503 && ready.body.contains(#""reasons":["starting"]"#))
        #expect(try HTTPGet.get("/health/ready", port: server.port, method: "POST").status == 405)
        #expect(try HTTPGet.get("/", port: server.port).status == 404)
        let head = try HTTPGet.get("/metrics", port: server.port, method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty)
    }

    @Test func `an address in use is told`() throws {
        let routes = AdminRoutes(
            registry: Registry(),
            statuses: [],
            stop: try StopFlag(),
            stuckAfter: .seconds(1)
        )
        let first = try AdminServer(host: "127.0.0.1", port: 0, routes: routes)
        let port = first.port
        #expect(throws: HostingError.self) {
            _ = try AdminServer(host: "127.0.0.1", port: port, routes: routes).port
        }
        _ = consume first
    }
}
