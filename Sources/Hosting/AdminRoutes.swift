package import Lanes
package import Telemetry

/// What a worker answers on its admin address; pure but for what it reads from lanes and metrics.
///
/// | path            | answer                                                        |
/// |-----------------|---------------------------------------------------------------|
/// | `/metrics`      | 200, Prometheus' text format                                  |
/// | `/health/live`  | 200 while every lane turns, else 503; JSON with each lane      |
/// | `/health/ready` | 200 while every lane works, else 503 with reasons; JSON        |
package struct AdminRoutes: Sendable {
    package struct Answer: Sendable {
        package let status: Int
        package let contentType: String
        package let body: [UInt8]
    }

    private let registry: Registry
    private let statuses: [LaneStatus]
    private let stop: StopFlag
    private let stuckAfter: Duration

    package init(registry: Registry, statuses: [LaneStatus], stop: StopFlag, stuckAfter: Duration) {
        self.registry = registry
        self.statuses = statuses
        self.stop = stop
        self.stuckAfter = stuckAfter
    }

    /// The answer to a request; `path` is without a query.
    package func answer(method: String, path: String) -> Answer {
        guard ["/metrics", "/health/live", "/health/ready"].contains(path) else {
            return text(404, "not here; try /metrics, /health/live or /health/ready\n")
        }
        guard method == "GET" || method == "HEAD" else { return text(405, "only GET and HEAD\n") }
        if path == "/metrics" {
            return Answer(status: 200, contentType: Exposition.contentType, body: registry.render())
        }
        let report = HealthReport(statuses, isDraining: stop.isRaised, limit: stuckAfter)
        return path == "/health/live"
            ? json(report.isAlive, report.liveness())
            : json(report.isReady, report.readiness())
    }

    private func json(_ isGood: Bool, _ body: [UInt8]) -> Answer {
        Answer(status: isGood ? 200 : 503, contentType: "application/json", body: body)
    }

    private func text(_ status: Int, _ body: String) -> Answer {
        Answer(status: status, contentType: "text/plain; charset=utf-8", body: Array(body.utf8))
    }
}

extension Registry {
    /// Adds how the lanes of a process are.
    package func addLaneMetrics(_ statuses: [LaneStatus]) {
        collect { exposition in
            exposition.family(
                "posthorn_lane_ready",
                help: "Whether a lane does its work: 1 or 0.",
                kind: .gauge
            )
            for status in statuses {
                let isReady = status.condition == .ready
                exposition.sample("posthorn_lane_ready", labels: ["lane": status.name], isReady ? 1 : 0)
            }
            let age = "posthorn_lane_turn_age_seconds"
            exposition.family(age, help: "Time since a lane began its current turn.", kind: .gauge)
            for status in statuses {
                exposition.sample(age, labels: ["lane": status.name], status.sinceLastTurn() / .seconds(1))
            }
        }
    }
}
