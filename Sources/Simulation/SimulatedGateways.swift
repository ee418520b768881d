package import HTTPServer
internal import Synchronization

/// The gateways of a script, one for each of its origins, which share a ledger.
package final class SimulatedGateways: Sendable {
    package let players: [ScriptPlayer]
    package let ledger: GatewayLedger
    private let gateways: [Box]

    /// - Parameters:
    ///   - script: what they do.
    ///   - settings: what all have in common; its address, ledger and player are not used.
    ///   - listen: addresses for the origins that have none of their own, in order.
    ///   - ledger: where receipts are kept.
    ///   - clock: where the script takes the time from.
    /// - Throws: ``SimulationError/addresses(needed:given:)``, ``ServerError`` and whatever else one gateway throws.
    package init(
        _ script: GatewayScript,
        _ settings: SimulatedGateway.Settings,
        listen: [ListenAddress],
        ledger: GatewayLedger = GatewayLedger(),
        clock: ScriptPlayer.Clock = .system
    ) throws {
        let needed = script.origins.count { $0.listen == nil }
        guard needed == listen.count else {
            throw SimulationError.addresses(needed: needed, given: listen.count)
        }
        var rest = listen[...]
        players = script.origins.enumerated().map { index, origin in
            ScriptPlayer(origin, seed: script.seed &+ UInt64(index), clock: clock)
        }
        var gateways: [Box] = []
        for player in players {
            guard let address = player.origin.listen ?? rest.popFirst() else { break }
            let own = SimulatedGateway.Settings(
                listen: address,
                tls: settings.tls,
                record: settings.record,
                observer: settings.observer,
                threads: settings.threads,
                batchLimit: settings.batchLimit,
                connections: settings.connections,
                ledger: ledger,
                player: player
            )
            gateways.append(
                Box(
                    try SimulatedGateway(own),
                    Address(
                        name: player.origin.name,
                        host: address.host,
                        isSecure: own.tls != nil || !player.origin.tls.isEmpty
                    )
                )
            )
        }
        self.gateways = gateways
        self.ledger = ledger
    }

    /// Where an origin is.
    package struct Address: Sendable {
        package var name: String
        package var host: String
        package var port: UInt16 = 0
        package var isSecure: Bool

        /// As a pusher would have it, without a path.
        package var url: String {
            "\(isSecure ? "https" : "http")://\(ListenAddress(host: host, port: port))"
        }
    }

    /// In the order of the script, with real ports.
    package var addresses: [Address] { gateways.map(\.address) }

    package var counts: SimulatedGateway.Counts {
        gateways.reduce(into: SimulatedGateway.Counts()) { sum, gateway in
            let counts = gateway.gateway.withLock { $0.counts }
            sum.requests += counts.requests
            sum.items += counts.items
        }
    }

    /// Drains one after the other.
    ///
    /// - Returns: whether all requests in flight were answered.
    package func drain(within grace: Duration) -> Bool {
        gateways.reduce(true) { isDone, gateway in
            gateway.gateway.withLock { $0.drain(within: grace) } && isDone
        }
    }

    private final class Box: Sendable {
        let gateway: Mutex<SimulatedGateway>
        let address: Address

        init(_ gateway: consuming sending SimulatedGateway, _ address: Address) {
            var address = address
            address.port = gateway.port
            self.address = address
            self.gateway = Mutex(gateway)
        }
    }
}
