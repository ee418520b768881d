internal import Push

/// Where the requests of one destination go.
struct Route {
    let url: String
    let origin: GatewayOrigin
    let format: NotificationFormat
    let metrics: GatewayMetrics
    /// Why nothing leaves at present, by the engine's breaker.
    private(set) var stop: Breaker.Reason?

    /// Notes that nothing leaves any more, or for another reason than before.
    mutating func noteStop(_ reason: Breaker.Reason) {
        noteForgotten()
        stop = reason
        metrics.stopped(reason.name)
    }

    /// - Returns: whether it had been stopped.
    mutating func noteRecovery() -> Bool {
        defer { stop = nil }
        noteForgotten()
        return stop != nil
    }

    /// Takes it out of the books.
    func noteForgotten() {
        if let stop { metrics.resumed(stop.name) }
    }
}

/// The routes of a lane, by the engine's numbers of destinations.
///
/// An address is read once, when its destination is new. One that is none leaves no route, and every record for it is malformed.
struct RouteTable {
    private var routes: [Route?] = []
    private var problems: [Int: String] = [:]

    subscript(destination: Push.Destination) -> Route? {
        _read { yield routes[destination.index] }
        _modify { yield &routes[destination.index] }
    }

    /// Why a destination has no route.
    func problem(_ destination: Push.Destination) -> String {
        problems[destination.index] ?? "gateway: unknown"
    }

    /// Takes all out of the books: the lane ends.
    func forgetAll() {
        for route in routes { route?.noteForgotten() }
    }

    /// Reads the address of a new destination; its number may have belonged to an idle one before, whose route is given back.
    mutating func add(
        _ destination: Push.Destination,
        endpoint: [UInt8],
        _ format: NotificationFormat,
        _ metrics: DispatchMetrics
    ) -> Route? {
        let index = destination.index
        while routes.count <= index { routes.append(nil) }
        let old = routes[index]
        routes[index] = nil
        problems[index] = nil
        do throws(GatewayURLError) {
            guard let text = String(validating: endpoint, as: UTF8.self) else { throw .path }
            let url = try GatewayURL(text)
            routes[index] = Route(
                url: url.text,
                origin: url.origin,
                format: format,
                metrics: metrics.gateway(url.origin.text)
            )
        } catch {
            problems[index] = "gateway: \(error)"
        }
        return old
    }
}
