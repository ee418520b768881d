package import HTTPServer
internal import JSON
internal import Push

/// Answers over HTTP what simulated gateways have received, and lets a drill go from phase to phase.
///
/// | request | answer |
/// |---|---|
/// | `GET /counts` | counts of all and of each origin, and its phase |
/// | `GET /received/ID` | when and how often that id came; 404 when it did not |
/// | `GET /received?since=N&limit=M` | receipts after number N; M is 1,000 by default, at most 10,000 |
/// | `POST /script/phase/NAME`, `?origin=NAME` | enters that phase, at all origins that have it or at one |
///
/// All answers are JSON. It knows no pushkeys and no messages.
package struct GatewayInquiry: ~Copyable, Sendable {
    private var server: Server

    /// - Throws: ``ServerError`` when the address cannot be used.
    package init(
        _ listen: ListenAddress,
        ledger: GatewayLedger,
        players: [ScriptPlayer]
    ) throws(ServerError) {
        let desk = Desk(ledger: ledger, players: players)
        server = try Server(
            Server.Configuration(listen: listen, limits: Server.Limits(bodyBytes: 1024, connections: 64))
        ) { desk.answer($0) }
    }

    /// The real port, also where the address says 0.
    package var port: UInt16 { server.port }

    package mutating func drain(within grace: Duration) {
        _ = server.drain(within: grace)
    }
}

private struct Desk: Sendable {
    let ledger: GatewayLedger
    let players: [ScriptPlayer]

    func answer(_ request: Request) -> Response {
        let steps = request.path.split(separator: "/").map { decoded($0) }
        let query = values(request.query)
        switch (request.method, steps.count, steps.first) {
        case ("GET", 1, "counts"): return counts()
        case ("GET", 1, "received"): return receipts(query)
        case ("GET", 2, "received"): return receipts(of: steps[1])
        case ("POST", 3, "script") where steps[1] == "phase": return enter(steps[2], query["origin"])
        default:
            return fault(404, "There are GET /counts, /received, /received/ID and POST /script/phase/NAME.")
        }
    }

    private func counts() -> Response {
        let counts = ledger.counts
        var writer = Writer()
        writer.object { writer in
            writer.member("requests", counts.origins.values.reduce(0) { $0 + $1.requests })
            writer.member("items", counts.origins.values.reduce(0) { $0 + $1.items })
            writer.member("ids", counts.ids)
            writer.member("repeats", counts.repeats)
            writer.member("kept", counts.kept)
            writer.member("forgotten", counts.forgotten)
            writer.name("origins")
            writer.array { writer in
                for player in players {
                    write(player, counts.origins[player.origin.name] ?? .init(), &writer)
                }
            }
        }
        return json(200, writer)
    }

    private func write(_ player: ScriptPlayer, _ counts: GatewayLedger.OriginCounts, _ writer: inout Writer) {
        writer.object { writer in
            writer.member("name", player.origin.name)
            writer.member("phase", player.phase)
            writer.member("requests", counts.requests)
            writer.member("items", counts.items)
            writer.member("turned_away", counts.turnedAway)
            writer.name("answers")
            writer.object { writer in
                for (answer, count) in counts.answers.sorted(by: { $0.key < $1.key }) {
                    writer.name(escaping: answer)
                    writer.integer(Int64(count))
                }
            }
        }
    }

    private func receipts(of id: String) -> Response {
        let receipts = ledger.receipts(of: id)
        var writer = Writer()
        writer.object { writer in
            writer.member("id", id)
            writer.member("times", receipts.count)
            writer.name("receipts")
            writer.array { writer in for receipt in receipts { write(receipt, &writer) } }
        }
        return json(receipts.isEmpty ? 404 : 200, writer)
    }

    private func receipts(_ query: [String: String]) -> Response {
        guard let since = Int(query["since"] ?? "0"), since >= 0,
            let limit = Int(query["limit"] ?? "1000"), (1...10_000).contains(limit)
        else { return fault(400, "since must be 0 or more, limit from 1 to 10000.") }
        let receipts = ledger.receipts(after: since, limit: limit)
        var writer = Writer()
        writer.object { writer in
            writer.member("next", receipts.last?.number ?? since)
            writer.name("receipts")
            writer.array { writer in for receipt in receipts { write(receipt, &writer) } }
        }
        return json(200, writer)
    }

    private func write(_ receipt: GatewayLedger.Receipt, _ writer: inout Writer) {
        writer.object { writer in
            writer.member("number", receipt.number)
            writer.member("id", receipt.id)
            writer.member("received_at", receipt.receivedAt.rfc3339)
            writer.member("origin", receipt.origin)
            writer.member("phase", receipt.phase)
            writer.member("batch", receipt.batch)
            writer.member("told", receipt.told)
        }
    }

    private func enter(_ phase: String, _ origin: String?) -> Response {
        let entered = players.filter { (origin == nil || $0.origin.name == origin) && $0.enter(phase) }
        guard !entered.isEmpty else { return fault(404, "No origin has that phase.") }
        var writer = Writer()
        writer.object { writer in
            writer.member("phase", phase)
            writer.name("origins")
            writer.array { writer in for player in entered { writer.string(player.origin.name) } }
        }
        return json(200, writer)
    }

    private func fault(_ status: Int, _ reason: String) -> Response {
        var writer = Writer()
        writer.object { $0.member("error", reason) }
        return json(status, writer)
    }

    private func json(_ status: Int, _ writer: Writer) -> Response {
        GatewayAnswerWriter.json(status, writer)
    }

    private func values(_ query: String?) -> [String: String] {
        let pairs = (query ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decoded(parts[0]), parts.count == 2 ? decoded(parts[1]) : "")
        }
        return Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    /// Without its percent-encoding; what is none stays as it is.
    private func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), rest.count >= 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
