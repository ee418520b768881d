import DispatchWorker
import HTTPServer
import Kafka
import Lanes
import Postgres
import Push
import Simulation
import Support
import Synchronization
import Telemetry

/// A dispatch lane that runs while a test replays, and the gateway that it sends to.
final class RunningDispatch {
    let origin: String
    private let gateway: Mutex<SimulatedGateway>
    private let stopFlag: StopFlag
    private let group: LaneGroup<Void, DispatchError>
    private let counter: Counts

    private final class Counts: Sendable {
        let conduct: Mutex<GatewayConduct>
        let requests = Mutex<[String: Int]>([:])

        init(_ conduct: GatewayConduct) { self.conduct = Mutex(conduct) }
    }

    /// How often the gateway was asked to take each notification, refused or not.
    var counts: [String: Int] { counter.requests.withLock { $0 } }

    func behave(_ conduct: GatewayConduct) { counter.conduct.withLock { $0 = conduct } }

    init(_ fixture: Fixture, _ conduct: GatewayConduct, attempts: Int = 2) throws {
        let counter = Counts(conduct)
        let gateway = try SimulatedGateway(
            SimulatedGateway.Settings(
                listen: ListenAddress(host: "127.0.0.1", port: 0),
                tls: nil,
                observer: { _ in },
                behaviour: { arrival in
                    counter.requests.withLock { counts in
                        for id in arrival.ids { counts[id, default: 0] += 1 }
                    }
                    return counter.conduct.withLock { $0 }
                }
            )
        )
        origin = "http://127.0.0.1:\(gateway.port)"
        try fixture.connection.execute(
            "INSERT INTO gateways (origin, allow_private, insecure) VALUES ($1, true, true)",
            [.text(origin)]
        )
        var settings = DispatchSettings(
            kafka: fixture.kafka,
            database: try Postgres.Configuration(fixture.databaseURL)
        )
        settings.topics = fixture.topics
        settings.commitInterval = .milliseconds(50)
        settings.gatewayRefresh = .milliseconds(100)
        settings.attempts = attempts
        settings.outbound.breaker.pause = .milliseconds(20)
        settings.outbound.breaker.maximumPause = .milliseconds(50)
        let ready = settings
        let stopFlag = try StopFlag()
        let metrics = DispatchMetrics(Registry(), lanes: 1)
        let log = Log(level: .error, style: .json)
        let statuses = LaneStatus.lanes(named: "dispatch", count: 1)
        self.stopFlag = stopFlag
        self.counter = counter
        self.gateway = Mutex(gateway)
        group = try LaneGroup(statuses, policy: .goOn, stop: stopFlag) { context throws(DispatchError) in
            try DispatchLane.run(ready, context: context, metrics: metrics, log: log)
        }
    }

    func stop() {
        stopFlag.raise()
        _ = group.join(within: .seconds(60))
    }
}
