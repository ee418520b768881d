internal import HTTPServer
internal import Push
internal import Synchronization

/// Handles the requests of a simulated gateway, on the server's threads.
final class GatewayDesk: Sendable {
    private let settings: SimulatedGateway.Settings
    private let record: RecordFile?
    private let requests = Atomic(0)
    private let items = Atomic(0)
    /// Requests that are not answered, until their time is over or the gateway stops.
    private let hanging = Mutex<[Int: Responder]>([:])

    /// How long a request is left without an answer before its connection is closed.
    ///
    /// Longer than any sender waits; without an end, connections that their clients have long left would add up.
    private static let hangTime = Duration.seconds(600)

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

    /// Takes a request from a connection that was made under the certificate of that name.
    func take(_ request: Request, _ responder: Responder, under identity: String) throws {
        if let player = settings.player, player.connection != .serve(identity: identity) {
            settings.ledger?.noteTurnedAway(player.origin.name)
            return responder.close()
        }
        let manner = settings.player?.manner ?? .specified
        guard let interface = GatewayInterface(path: request.path, manner) else {
            return responder.answer(refusal(404, request, manner))
        }
        guard request.method == "POST" else { return responder.answer(refusal(405, request, manner)) }
        guard isJSON(request.header("content-type")) else {
            return responder.answer(refusal(415, request, manner))
        }
        let batch = requests.add(1, ordering: .relaxed).newValue
        let turn = settings.player?.takeTurn()
        let sheet = Sheet(request: request, interface: interface, batch: batch, turn: turn)
        switch sheet.manner {
        case .specified: try takeAsSpecified(sheet, responder)
        case .reference(let apps): try takeAsReference(sheet, knownApps: apps, responder)
        }
    }

    /// Breaks off the requests that hang.
    func letGo() {
        for responder in hanging.withLock({ responders in
            defer { responders = [:] }
            return responders.values
        }) { responder.close() }
    }

    /// A request on its way through the desk.
    private struct Sheet {
        let request: Request
        let interface: GatewayInterface
        let batch: Int
        let turn: ScriptPlayer.Turn?

        var manner: GatewayManner { turn?.phase.manner ?? .specified }
    }

    private func takeAsSpecified(_ sheet: Sheet, _ responder: Responder) throws {
        let reader = GatewayBodyReader(
            interface: sheet.interface,
            batchLimit: settings.batchLimit,
            itemLimitKilobytes: 64
        )
        let content: GatewayBodyReader.Content
        do throws(BatchFault) {
            content = try reader.read(sheet.request.body)
        } catch {
            return act(conduct(sheet, []), sheet, responder) { GatewayAnswerWriter.answer(error) }
        }
        let conduct = conduct(sheet, content.items)
        let outcomes = GatewayAnswerWriter.outcomes(content, conduct)
        if conduct.records { try keep(content.items, outcomes, conduct, sheet) }
        act(conduct, sheet, responder) {
            GatewayAnswerWriter.answer(
                outcomes,
                to: sheet.interface,
                isWrapped: content.isWrapped,
                conduct
            )
        }
    }

    /// Faults of a body are told before anything else is: that check comes first in it.
    private func takeAsReference(
        _ sheet: Sheet,
        knownApps: Set<String>?,
        _ responder: Responder
    ) throws {
        let content: GatewayBodyReader.Content
        do throws(ReferenceBodyReader.Fault) {
            content = try ReferenceBodyReader(interface: sheet.interface).read(sheet.request.body)
        } catch {
            let response =
                switch error {
                case .schema: refusal(400, sheet.request, sheet.manner)
                case .duplicateIDs(let ids): FrameworkAnswer.duplicates(ids)
                case .database: refusal(500, sheet.request, sheet.manner)
                }
            return act(.regular, sheet, responder) { response }
        }
        let conduct = conduct(sheet, content.items)
        let writer = ReferenceAnswerWriter(interface: sheet.interface, knownApps: knownApps)
        let outcomes = writer.outcomes(content, conduct)
        if conduct.records { try keep(content.items, outcomes, conduct, sheet) }
        act(conduct, sheet, responder) { writer.answer(outcomes, conduct) }
    }

    private func conduct(_ sheet: Sheet, _ items: [ReadItem]) -> GatewayConduct {
        let arrival = GatewayArrival(
            batch: sheet.batch,
            path: sheet.request.path,
            items: items.map { GatewayArrival.Item(id: $0.id, devices: $0.devices) },
            client: sheet.request.peer.certificate?.subject
        )
        guard let player = settings.player, let turn = sheet.turn else { return settings.behaviour(arrival) }
        return player.conduct(for: arrival, in: turn)
    }

    private func act(
        _ conduct: GatewayConduct,
        _ sheet: Sheet,
        _ responder: Responder,
        _ regular: () -> Response
    ) {
        var response: Response
        switch conduct.action {
        case .answer: response = regular()
        case .respond(let status, let body, let type): response = .text(status, body, type: type)
        case .refuse(let status): response = refusal(status, sheet.request, sheet.manner)
        case .truncate(let bytes):
            response = regular()
            response.body = Array(response.body.prefix(bytes))
        case .hang:
            note("hang")
            return hang(responder, sheet.batch)
        case .close:
            note("close")
            guard conduct.delay > .zero else { return responder.close() }
            return responder.schedule(after: conduct.delay) { $0.close() }
        }
        note("\(response.status)")
        response.pace = conduct.pace
        if let retryAfter = conduct.retryAfter {
            response.headers.append(HeaderField("retry-after", retryAfter))
        }
        if conduct.delay > .zero {
            responder.answer(response, after: conduct.delay)
        } else {
            responder.answer(response)
        }
    }

    private func hang(_ responder: Responder, _ batch: Int) {
        hanging.withLock { $0[batch] = responder }
        responder.schedule(after: Self.hangTime) { [weak self] responder in
            responder.close()
            _ = self?.hanging.withLock { $0.removeValue(forKey: batch) }
        }
    }

    private func refusal(_ status: Int, _ request: Request, _ manner: GatewayManner) -> Response {
        switch manner {
        case .specified: GatewayAnswerWriter.refusal(status)
        case .reference: FrameworkAnswer.error(status, path: request.path, now: SystemTime.now())
        }
    }

    private func note(_ answer: String) {
        settings.ledger?.note(settings.name, answer: answer)
    }

    /// Writes down what came, items that are told failed included.
    private func keep(
        _ read: [ReadItem],
        _ outcomes: [GatewayOutcome],
        _ conduct: GatewayConduct,
        _ sheet: Sheet
    ) throws(SimulationError) {
        let now = SystemTime.now()
        if record != nil || settings.observer != nil {
            let received = read.map { item in
                ReceivedItem(
                    receivedAt: now,
                    path: sheet.request.path,
                    batch: sheet.batch,
                    id: item.id,
                    notification: Array(sheet.request.body[item.range]),
                    pushkeys: item.pushkeys
                )
            }
            try record?.append(received)
            settings.observer?(received)
        }
        items.add(read.count, ordering: .relaxed)
        guard let ledger = settings.ledger else { return }
        ledger.add(
            zip(read, outcomes).map { item, outcome in
                GatewayLedger.Receipt(
                    number: 0,
                    receivedAt: now,
                    origin: settings.name,
                    phase: sheet.turn?.phase.name ?? "",
                    batch: sheet.batch,
                    id: item.id ?? "",
                    told: told(outcome, conduct)
                )
            }
        )
    }

    private func told(_ outcome: GatewayOutcome, _ conduct: GatewayConduct) -> String {
        guard conduct.action == .answer, !conduct.omittedIDs.contains(outcome.id) else { return "nothing" }
        return outcome.status.rawValue
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
