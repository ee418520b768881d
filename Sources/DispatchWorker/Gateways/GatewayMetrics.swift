internal import Telemetry

/// What is counted of one gateway; made when a lane meets it, the same for all lanes.
struct GatewayMetrics: Sendable {
    private let requestSeconds: Histogram
    private let batchItems: Histogram
    private let certificateFault: Gauge
    private let registry: Registry
    private let origin: String

    init(_ registry: Registry, _ origin: String) {
        self.registry = registry
        self.origin = origin
        requestSeconds = registry.histogram(
            "posthorn_dispatch_request_seconds",
            help: "Time of a request, by gateway.",
            labels: ["gateway": origin]
        )
        batchItems = registry.histogram(
            "posthorn_dispatch_batch_items",
            help: "Notifications in a request, by gateway.",
            buckets: [1, 2, 5, 10, 20, 50, 100],
            labels: ["gateway": origin]
        )
        certificateFault = registry.gauge(
            "posthorn_dispatch_certificate_fault",
            help:
                "1 while a gateway's certificate files cannot be used as they are, so that older ones or none are.",
            labels: ["gateway": origin]
        )
    }

    func departed(items: Int) { batchItems.observe(Double(items)) }

    func ended(_ result: String, after duration: Duration) {
        requestSeconds.observe(duration)
        request(result)
    }

    /// Counts a request by how it ended: `answered`, `refused`, or the name of a transient cause or fault.
    func request(_ result: String) {
        registry.counter(
            "posthorn_dispatch_requests_total",
            help: "Requests by gateway and how they ended.",
            labels: ["gateway": origin, "result": result]
        ).increment()
    }

    /// Counts that a lane stopped sending.
    func stopped(_ reason: String) {
        registry.counter(
            "posthorn_dispatch_stops_total",
            help: "How often a lane stopped sending to a gateway, by reason.",
            labels: ["gateway": origin, "reason": reason]
        ).increment()
        stops(reason).add(1)
    }

    /// Counts that a lane sends again.
    func resumed(_ reason: String) { stops(reason).add(-1) }

    private func stops(_ reason: String) -> Gauge {
        registry.gauge(
            "posthorn_dispatch_gateway_stopped",
            help: "Lanes' destinations to which nothing leaves at present, by gateway and reason.",
            labels: ["gateway": origin, "reason": reason]
        )
    }

    func certificateFault(_ isThere: Bool) { certificateFault.set(isThere ? 1 : 0) }
}
