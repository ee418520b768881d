import HTTPServer
import LocalServices
import Simulation
import Support
import Synchronization

/// `posthorn simulate gateway` in a process of its own, on the operator's list, with the record of what it got.
final class Gateway {
    let origin: String
    let record: String
    private let role: Role

    init(_ installation: Installation) throws {
        let record = "\(installation.folder.path)/\(uniqueName("received"))"
        let role = try Role(
            installation,
            "simulate",
            "gateway",
            "--listen",
            "127.0.0.1:0",
            "--record",
            record
        )
        try eventually("the gateway listens") {
            guard role.isRunning else { throw role.unexpected() }
            return role.written.contains("\n")
        }
        self.record = record
        self.role = role
        origin = role.written.split(separator: " ").last.map { String($0.dropLast()) } ?? ""
        try installation.run("gateways", "add", origin, "--allow-private", "--insecure")
    }

    /// What it got until now, repeats included.
    var items: [SealedItem] { get throws { try SealedItem.items(ofRecord: record) } }
}

/// A simulated gateway in this process, which answers as slowly as a test wants.
final class SlowGateway: Sendable {
    let origin: String
    let record: String
    private let conduct: Shared
    private let gateway: Mutex<SimulatedGateway>

    /// What the server's threads and the test share.
    private final class Shared: Sendable {
        let conduct: Mutex<GatewayConduct>

        init(_ conduct: GatewayConduct) { self.conduct = Mutex(conduct) }
    }

    init(_ installation: Installation, _ conduct: GatewayConduct) throws {
        let record = "\(installation.folder.path)/\(uniqueName("received"))"
        let shared = Shared(conduct)
        let gateway = try SimulatedGateway(
            SimulatedGateway.Settings(
                listen: ListenAddress(host: "127.0.0.1", port: 0),
                record: record,
                behaviour: { _ in shared.conduct.withLock { $0 } }
            )
        )
        origin = "http://127.0.0.1:\(gateway.port)"
        self.record = record
        self.conduct = shared
        self.gateway = Mutex(gateway)
        try installation.run("gateways", "add", origin, "--allow-private", "--insecure")
    }

    func behave(_ conduct: GatewayConduct) { self.conduct.conduct.withLock { $0 = conduct } }

    /// Items that it got until now, repeats included.
    var count: Int { gateway.withLock { $0.counts.items } }

    var items: [SealedItem] { get throws { try SealedItem.items(ofRecord: record) } }
}
