import HTTPServer
import Simulation
import Synchronization

/// A simulated gateway that remembers what it got and can be told how to behave while it runs.
final class TestGateway: Sendable {
    typealias Behaviour = @Sendable (GatewayArrival) -> GatewayConduct

    private final class State: Sendable {
        let behaviour: Mutex<Behaviour>
        let items = Mutex<[ReceivedItem]>([])
        let arrivals = Mutex<[GatewayArrival]>([])

        init(_ behaviour: @escaping Behaviour) { self.behaviour = Mutex(behaviour) }
    }

    private let state: State
    private let gateway: Mutex<SimulatedGateway>
    let port: UInt16
    let origin: String

    init(
        port: UInt16 = 0,
        tls: Server.TLSPaths? = nil,
        _ behaviour: @escaping Behaviour = { _ in .regular }
    ) throws {
        let state = State(behaviour)
        let gateway = try SimulatedGateway(
            SimulatedGateway.Settings(
                listen: ListenAddress(host: "127.0.0.1", port: port),
                tls: tls,
                observer: { items in state.items.withLock { $0 += items } },
                behaviour: { arrival in
                    state.arrivals.withLock { $0.append(arrival) }
                    return state.behaviour.withLock { $0 }(arrival)
                }
            )
        )
        self.port = gateway.port
        origin =
            "\(tls == nil ? "http" : "https")://\(tls == nil ? "127.0.0.1" : "localhost"):\(gateway.port)"
        self.state = state
        self.gateway = Mutex(gateway)
    }

    func behave(_ behaviour: @escaping Behaviour) { state.behaviour.withLock { $0 = behaviour } }

    /// What was recorded, repeats included.
    var items: [ReceivedItem] { state.items.withLock { $0 } }
    /// Every request that could be read, refused ones included.
    var arrivals: [GatewayArrival] { state.arrivals.withLock { $0 } }

    /// How often each id was received.
    var counts: [String: Int] { Dictionary(items.map { ($0.id ?? "", 1) }, uniquingKeysWith: +) }

    /// How often each key was received.
    var pushkeyCounts: [String: Int] {
        Dictionary(items.flatMap(\.pushkeys).map { ($0, 1) }, uniquingKeysWith: +)
    }
}
