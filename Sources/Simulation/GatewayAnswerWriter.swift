internal import HTTPServer
internal import JSON

/// What a gateway tells of one item.
struct GatewayOutcome {
    enum Status: String {
        case success
        case failed
        case partial
    }

    var id: String
    var status = Status.success
    var rejected: [String] = []
    var error: String?
}

/// Writes a gateway's answers as the specification has them, with the faults that a conduct puts in.
enum GatewayAnswerWriter {
    static func outcomes(
        _ content: GatewayBodyReader.Content,
        _ conduct: GatewayConduct
    ) -> [GatewayOutcome] {
        content.items.map { outcome($0, conduct) }
    }

    static func answer(
        _ outcomes: [GatewayOutcome],
        to interface: GatewayInterface,
        isWrapped: Bool,
        _ conduct: GatewayConduct
    ) -> Response {
        if case .single = interface { return single(outcomes, isWrapped) }
        return batch(outcomes, conduct) { write($0, conduct.unset, &$1) }
    }

    /// The results in the order and number that the conduct asks for, and the summary.
    static func batch(
        _ outcomes: [GatewayOutcome],
        _ conduct: GatewayConduct,
        _ write: (GatewayOutcome, inout Writer) -> Void
    ) -> Response {
        var writer = Writer()
        writer.beginObject()
        writer.name("results")
        writer.array { writer in
            for outcome in ordered(expanded(outcomes, conduct), conduct.order) { write(outcome, &writer) }
        }
        writeSummary(outcomes, conduct.summary, &writer)
        writer.endObject()
        return json(200, writer)
    }

    static func answer(_ fault: BatchFault) -> Response {
        var writer = Writer()
        writer.object { writer in
            switch fault {
            case .invalidFormat:
                writer.member("error", "Invalid data format")
            case .tooManyItems(let limit):
                writer.member("error", "Batch size exceeds maximum limit")
                writer.name("details")
                writer.object { $0.member("max_batch_size", limit) }
            case .duplicateIDs(let ids):
                writer.member("error", "Duplicate notification IDs in batch")
                writer.name("details")
                writer.object { writer in
                    writer.name("duplicate_ids")
                    writer.array { writer in for id in ids { writer.string(id) } }
                }
            case .itemTooLarge(let limit):
                writer.member("error", "Individual notification too large")
                writer.name("details")
                writer.object { $0.member("max_notification_size_kb", limit) }
            }
        }
        return json(400, writer)
    }

    static func tooLarge(limit: Int) -> Response {
        .json(
            413,
            #"{"error":"Batch request payload is too large.","details":{"max_request_size_kb":\#(limit / 1024)}}"#
        )
    }

    /// A refusal with the body that the specification has for its status.
    static func refusal(_ status: Int) -> Response {
        let body =
            switch status {
            case 400: #"{"error":"Invalid data format"}"#
            case 401: #"{"error":"Missing or invalid mutual TLS (mTLS) certificate."}"#
            case 404: #"{"error":"Not found."}"#
            case 405: #"{"error":"Method not allowed."}"#
            case 413:
                #"{"error":"Batch request payload is too large.","details":{"max_request_size_kb":256}}"#
            case 415: #"{"error":"Unsupported media type."}"#
            case 500: #"{"error":"Unexpected failure during processing."}"#
            case 503: #"{"error":"Push Gateway under maintenance or overloaded."}"#
            default: #"{"error":"Simulated."}"#
            }
        return .json(status, body)
    }

    static func json(_ status: Int, _ writer: Writer) -> Response {
        Response(
            status: status,
            headers: [HeaderField("content-type", "application/json")],
            body: writer.bytes
        )
    }

    private static func outcome(_ item: ReadItem, _ conduct: GatewayConduct) -> GatewayOutcome {
        var outcome = GatewayOutcome(id: item.id ?? "")
        if let fault = item.fault {
            outcome.status = .failed
            outcome.error = fault
            return outcome
        }
        if let error = conduct.failures[outcome.id] {
            outcome.status = .failed
            outcome.error = error
        }
        if let strange = conduct.strangeKeys[outcome.id] {
            outcome.status = .failed
            outcome.rejected = strange
        }
        guard !conduct.deadPushkeys.isEmpty else { return outcome }
        let dead = item.pushkeys.filter(conduct.deadPushkeys.contains)
        outcome.rejected += dead
        if dead.count == item.pushkeys.count {
            outcome.status = .failed
        } else if !dead.isEmpty, outcome.status == .success {
            outcome.status = .partial
        }
        return outcome
    }

    private static func expanded(_ outcomes: [GatewayOutcome], _ conduct: GatewayConduct) -> [GatewayOutcome]
    {
        var results: [GatewayOutcome] = []
        for outcome in outcomes where !conduct.omittedIDs.contains(outcome.id) {
            results.append(outcome)
            if conduct.repeatedIDs.contains(outcome.id) { results.append(outcome) }
            if conduct.contradictedIDs.contains(outcome.id) { results.append(opposite(of: outcome)) }
        }
        return results + conduct.unknownIDs.map { GatewayOutcome(id: $0) }
    }

    private static func opposite(of outcome: GatewayOutcome) -> GatewayOutcome {
        outcome.status == .success
            ? GatewayOutcome(id: outcome.id, status: .failed, error: "Simulated contradiction.")
            : GatewayOutcome(id: outcome.id)
    }

    private static func ordered(
        _ outcomes: [GatewayOutcome],
        _ order: GatewayConduct.Order
    ) -> [GatewayOutcome] {
        switch order {
        case .asSubmitted: return outcomes
        case .reversed: return outcomes.reversed()
        case .sortedByID: return outcomes.sorted { $0.id.utf16.lexicographicallyPrecedes($1.id.utf16) }
        case .shuffled(let seed):
            var dice = ScriptDice(seed: seed)
            return outcomes.shuffled(using: &dice)
        }
    }

    private static func write(
        _ outcome: GatewayOutcome,
        _ unset: GatewayConduct.Unset,
        _ writer: inout Writer
    ) {
        writer.object { writer in
            writer.member("id", outcome.id)
            writer.member("status", outcome.status.rawValue)
            if !outcome.rejected.isEmpty || unset != .absent {
                writer.name("rejected")
                if outcome.rejected.isEmpty, unset == .null {
                    writer.null()
                } else {
                    writer.array { writer in for pushkey in outcome.rejected { writer.string(pushkey) } }
                }
            }
            guard outcome.error != nil || unset != .absent else { return }
            writer.name("error")
            if outcome.error == nil, unset == .null {
                writer.null()
            } else {
                writer.string(outcome.error ?? "")
            }
        }
    }

    private static func writeSummary(
        _ outcomes: [GatewayOutcome],
        _ summary: GatewayConduct.Summary,
        _ writer: inout Writer
    ) {
        guard summary != .absent else { return }
        func count(_ status: GatewayOutcome.Status) -> Int { outcomes.count { $0.status == status } }
        let isRight = summary == .right
        writer.name("summary")
        writer.object { writer in
            writer.member("total", outcomes.count)
            writer.member("successful", count(isRight ? .success : .failed))
            writer.member("failed", count(isRight ? .failed : .success))
            writer.member("partial", count(.partial))
        }
    }

    private static func single(_ outcomes: [GatewayOutcome], _ isWrapped: Bool) -> Response {
        let rejected = outcomes.flatMap(\.rejected)
        var writer = Writer()
        writer.object { writer in
            if !isWrapped { writer.member("status", "success") }
            guard isWrapped || !rejected.isEmpty else { return }
            writer.name("rejected")
            writer.array { writer in for pushkey in rejected { writer.string(pushkey) } }
        }
        return json(200, writer)
    }
}
