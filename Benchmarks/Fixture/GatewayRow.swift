internal import LocalServices

/// The addresses of the gateways on the operator's list: the first is everybody's but where there are several.
struct GatewayRow {
    static let count = 10
    let ports: [UInt16]

    init() throws(LocalServicesError) {
        var ports: Set<UInt16> = []
        while ports.count < Self.count { ports.insert(try FreePort.pick()) }
        self.ports = ports.sorted()
    }

    var origins: [String] { ports.map { "http://127.0.0.1:\($0)" } }

    /// Below which the interface of a gateway lies.
    static func url(_ origin: String) -> String { "\(origin)/push/v1/" }
}
