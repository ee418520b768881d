internal import Kafka
internal import Lanes
internal import Push

/// The two parts that stand at both ends of the way.
struct Play: ~Copyable {
    var devices: Team<DemoError>
    var source: Team<DemoError>

    init(
        _ services: borrowing Services,
        _ workers: borrowing Workers,
        _ script: Script,
        _ settings: DemoSettings,
        _ inbox: Inbox,
        _ ledger: Ledger,
        _ showcase: Showcase,
        start: StopFlag
    ) throws {
        let url = services.gatewayURL
        let devices = try Team<DemoError>("devices") { context throws(DemoError) in
            var fleet = try DeviceFleet(script, gateway: url, ledger: ledger, showcase: showcase)
            fleet.run(inbox, context)
        }
        let topic = services.broker.topics.triggers
        var kafka = services.broker.kafka
        if kafka["linger.ms"] == nil { kafka.set("linger.ms", "5") }
        let metrics = workers.encryptMetrics
        let source = try Team<DemoError>("source") { [kafka] context throws(DemoError) in
            var source = try EventSource(script, to: topic, on: kafka, ledger: ledger, metrics: metrics)
            try source.run(settings.events, rate: settings.rate, from: start, context)
        }
        self.devices = devices
        self.source = source
    }

    /// Whether the devices have their keys, and the source only waits to begin.
    var isReady: Bool { devices.condition == .ready && source.condition == .ready }

    /// Throws what a failed part had to say.
    mutating func check() throws(DemoError) {
        if source.phase == .failed { try source.end() }
        if devices.phase == .failed { try devices.end() }
    }
}
