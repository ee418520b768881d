internal import Glibc
internal import HTTPServer
internal import Push
internal import Synchronization

/// Handles the requests of a simulated gateway, on the server's threads.
final class GatewayDesk: Sendable {
    private let settings: SimulatedGateway.Settings
    private let record: RecordFile?
    private let requests = Atomic(0)
    private let items = Atomic(0)
    /// Requests that are never answered, until the gateway stops.
    private let hanging = Mutex<[Responder]>([])

    init(_ settings: SimulatedGateway.Settings) throws(SimulationError) {
        self.settings = settings
        record = if let path = settings.record { try RecordFile(path) } else { nil }
    }

    var counts: SimulatedGateway.Counts {
        SimulatedGateway.Counts(
            requests: requests.load(ordering: .relaxed),
            items: items.load(ordering: .relaxed)
        )
    }

    func take(_ request: Request, _ responder: Responder) throws {
        guard let interface = GatewayInterface(path: request.path) else {
            return responder.answer(.json(404, #"{"error":"Not found."}"#))
        }
        guard request.method == "POST" else {
            return responder.answer(.json(405, #"{"error":"Method not allowed."}"#))
        }
        guard isJSON(request.header("content-type")) else {
            return responder.answer(.json(415, #"{"error":"Unsupported media type."}"#))
        }
        let batch = requests.add(1, ordering: .relaxed).newValue
        let reader = GatewayBodyReader(
            interface: interface,
            batchLimit: settings.batchLimit,
            itemLimitKilobytes: 64
        )
        let content: GatewayBodyReader.Content
        do throws(BatchFault) {
            content = try reader.read(request.body)
        } catch {
            let conduct = settings.behaviour(arrival(batch, request, []))
            return act(conduct, responder) { GatewayAnswerWriter.answer(error) }
        }
        let conduct = settings.behaviour(arrival(batch, request, content.items))
        if conduct.records { try keep(content.items, request, batch) }
        act(conduct, responder) { GatewayAnswerWriter.answer(content, to: interface, conduct) }
    }

    /// Breaks off the requests that hang.
    func letGo() {
        for responder in hanging.withLock({ responders in
            defer { responders = [] }
            return responders
        }) { responder.close() }
    }

    private func act(_ conduct: GatewayConduct, _ responder: Responder, _ regular: () -> Response) {
        var response: Response
        switch conduct.action {
        case .answer: response = regular()
        case .respond(let status, let body, let type): response = .text(status, body, type: type)
        case .truncate(let bytes):
            response = regular()
            response.body = Array(response.body.prefix(bytes))
        case .hang: return hanging.withLock { $0.append(responder) }
        case .close:
            guard conduct.delay > .zero else { return responder.close() }
            return responder.schedule(after: conduct.delay) { $0.close() }
        }
        if let retryAfter = conduct.retryAfter {
            response.headers.append(HeaderField("retry-after", retryAfter))
        }
        if conduct.delay > .zero {
            responder.answer(response, after: conduct.delay)
        } else {
            responder.answer(response)
        }
    }

    /// Writes down what came, items that are told failed included.
    private func keep(_ read: [ReadItem], _ request: Request, _ batch: Int) throws(SimulationError) {
        items.add(read.count, ordering: .relaxed)
        guard record != nil || settings.observer != nil else { return }
        let now = currentTime()
        let received = read.map { item in
            ReceivedItem(
                receivedAt: now,
                path: request.path,
                batch: batch,
                id: item.id,
                notification: Array(request.body[item.range]),
                pushkeys: item.pushkeys
            )
        }
        try record?.append(received)
        settings.observer?(received)
    }

    private func arrival(_ batch: Int, _ request: Request, _ items: [ReadItem]) -> GatewayArrival {
        GatewayArrival(
            batch: batch,
            path: request.path,
            ids: items.compactMap(\.id),
            pushkeys: items.flatMap(\.pushkeys),
            client: request.peer.certificate?.subject
        )
    }
}

private func isJSON(_ type: String?) -> Bool {
    guard let type else { return false }
    return type.prefix { $0 != ";" }.lowercased().trimmingBlanks == "application/json"
}

extension String {
    fileprivate var trimmingBlanks: Substring {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        while text.first == " " { text.removeFirst() }
        return text
    }
}

private func currentTime() -> Timestamp {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
}
