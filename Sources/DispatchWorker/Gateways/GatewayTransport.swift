internal import HTTPClient
internal import Kafka
internal import Lanes
internal import Push

/// Sends batches to gateways and brings back what came of them.
///
/// A batch is its records' bytes, copied behind each other into a frame; nothing is parsed. One lane's own.
struct GatewayTransport: ~Copyable {
    /// A request on its way.
    private struct Flight {
        let batch: OutboundBatch
        let origin: GatewayOrigin
        let format: NotificationFormat
        let metrics: GatewayMetrics
        let start: Int64
    }

    private var client: Client
    private var flights: [UInt64: Flight] = [:]
    private var nextID: UInt64 = 0
    private var reader: AnswerReader
    /// What the answers say about keys.
    var tally = RejectionTally()
    /// How the last failed request to each destination ended, for the log.
    private var troubles: [Int: String] = [:]
    private let limits: Request.Limits
    private let metrics: DispatchMetrics

    private static let headers = [
        HeaderField("content-type", "application/json"), HeaderField("accept", "application/json"),
        HeaderField("user-agent", "posthorn"),
    ]

    init(_ settings: DispatchSettings, _ metrics: DispatchMetrics) throws(ClientError) {
        let perGateway = settings.outbound.inFlight.maximum
        client = try Client(
            Client.Configuration(
                // Encrypted and plain messages are destinations of their own, often on the same host.
                connectionsPerHost: 2 * perGateway,
                connections: max(settings.outbound.maximumBatches, 2 * perGateway),
                keptHeaders: ["content-type", "retry-after"]
            )
        )
        reader = AnswerReader(metrics)
        self.metrics = metrics
        limits = Request.Limits(
            connect: min(settings.connectTimeout, settings.requestTimeout),
            total: settings.requestTimeout
        )
    }

    /// Sends a batch.
    ///
    /// - Returns: how it ended, if it ended before it was sent.
    /// - Throws: when the HTTP library is of no more use.
    mutating func send(
        _ batch: OutboundBatch,
        to route: Route,
        _ access: GatewayAccess,
        _ engine: borrowing OutboundEngine<Outgoing>
    ) throws(ClientError) -> BatchReport? {
        guard access.entry.dialect == route.format.dialect else {
            return BatchReport(
                .fault(.configuration),
                detail: "the gateway speaks \(access.entry.dialect.rawValue) by the list"
            )
        }
        guard let destination = access.destination() else {
            return BatchReport(.fault(.credential), detail: access.fault?.description ?? "")
        }
        let request = Request(
            url: route.url,
            headers: Self.headers,
            body: Self.body(batch, route.format, engine),
            destination: destination,
            limits: limits
        )
        nextID += 1
        do throws(ClientError) {
            try client.start(request, id: nextID)
        } catch {
            if case .library = error { throw error }
            return BatchReport(.fault(.configuration), detail: error.description)
        }
        flights[nextID] = Flight(
            batch: batch,
            origin: route.origin,
            format: route.format,
            metrics: route.metrics,
            start: Monotonic.now()
        )
        route.metrics.departed(items: batch.tickets.count)
        return nil
    }

    /// How the last request that failed as a whole ended; empty if none did.
    func trouble(at destination: Push.Destination) -> String { troubles[destination.index] ?? "" }

    /// Waits for an answer, for `descriptor`, or until the time is over.
    mutating func wait(upTo limit: Duration, also descriptor: Int32) throws(ClientError) {
        try client.wait(upTo: limit, also: descriptor)
    }

    /// Tells the engine about every request that has ended.
    mutating func settle(_ engine: inout OutboundEngine<Outgoing>, _ now: Now) {
        for completion in client.takeCompleted() {
            guard let flight = flights.removeValue(forKey: completion.id) else { continue }
            let report: BatchReport
            switch completion.result {
            case .success(let response):
                report = reader.report(response, to: flight.batch, flight.format, engine, now)
            case .failure(let failure):
                report = AnswerReader.report(failure)
            }
            if !report.detail.isEmpty { troubles[flight.batch.destination.index] = report.detail }
            count(report, flight, engine, now)
            if case .answered(let answers) = report.result {
                tally.note(answers, to: flight.batch, from: flight.origin, sent: flight.start, engine)
            }
            engine.complete(flight.batch.id, report, now: now)
        }
    }

    /// Gives up a request that is still under way; its connection is closed.
    mutating func recall(_ batch: BatchID, _ engine: inout OutboundEngine<Outgoing>, _ now: Now) {
        guard let (id, flight) = flights.first(where: { $0.value.batch.id == batch }) else { return }
        client.cancel(id)
        flights[id] = nil
        let report = BatchReport(
            .transient(.recalled),
            detail: "no answer yet, and others could not be read"
        )
        troubles[flight.batch.destination.index] = report.detail
        count(report, flight, engine, now)
        engine.complete(batch, report, now: now)
    }

    private func count(
        _ report: BatchReport,
        _ flight: Flight,
        _ engine: borrowing OutboundEngine<Outgoing>,
        _ now: Now
    ) {
        flight.metrics.ended(report.result.name, after: .nanoseconds(Monotonic.now() - flight.start))
        guard case .answered = report.result else { return }
        // The first record of a batch has waited longest.
        if let ticket = flight.batch.tickets.first,
            let timestamp = engine.payload(of: ticket)?.timestamp
        {
            metrics.delivered(age: now.wall.since(Timestamp(milliseconds: timestamp)))
        }
    }

    private static func body(
        _ batch: OutboundBatch,
        _ format: NotificationFormat,
        _ engine: borrowing OutboundEngine<Outgoing>
    ) -> [UInt8] {
        var body: [UInt8] = []
        guard format.isBatched else {
            for ticket in batch.tickets { engine.payload(of: ticket)?.record.appendValue(to: &body) }
            return body
        }
        var isFirst = true
        BatchFrame.begin(&body)
        for ticket in batch.tickets {
            engine.payload(of: ticket)?.withValue { value in
                if isFirst { body.reserveCapacity((value.count + 64) * batch.tickets.count) }
                BatchFrame.add(value, isFirst: isFirst, to: &body)
                isFirst = false
            }
        }
        BatchFrame.end(&body)
        return body
    }
}

extension BatchResult {
    /// The label of metrics.
    var name: String {
        switch self {
        case .answered: "answered"
        case .refused: "refused"
        case .transient(let cause, _): cause.rawValue
        case .fault(let fault): fault.rawValue
        }
    }
}
