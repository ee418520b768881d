internal import HTTPServer
internal import JSON

/// Writes a gateway's answers.
enum GatewayAnswerWriter {
    static func answer(
        _ content: GatewayBodyReader.Content,
        to interface: GatewayInterface,
        _ conduct: GatewayConduct
    ) -> Response {
        if case .single = interface { return single(content, conduct) }
        let outcomes = content.items.map { outcome($0, conduct) }
        var writer = Writer()
        writer.beginObject()
        writer.name("results")
        writer.array { writer in
            for outcome in ordered(outcomes, conduct) where !conduct.omittedIDs.contains(outcome.id) {
                write(outcome, &writer)
            }
        }
        writer.name("summary")
        writer.object { writer in
            writer.member("total", outcomes.count)
            writer.member("successful", outcomes.count { $0.status == .success })
            writer.member("failed", outcomes.count { $0.status == .failed })
            writer.member("partial", outcomes.count { $0.status == .partial })
        }
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

    private enum Status: String {
        case success
        case failed
        case partial
    }

    private struct Outcome {
        var id: String
        var status = Status.success
        var rejected: [String] = []
        var error: String?
    }

    private static func outcome(_ item: ReadItem, _ conduct: GatewayConduct) -> Outcome {
        var outcome = Outcome(id: item.id ?? "")
        if let fault = item.fault {
            outcome.status = .failed
            outcome.error = fault
            return outcome
        }
        if let error = conduct.failures[outcome.id] {
            outcome.status = .failed
            outcome.error = error
        }
        guard !conduct.deadPushkeys.isEmpty else { return outcome }
        outcome.rejected = item.pushkeys.filter(conduct.deadPushkeys.contains)
        if outcome.rejected.count == item.pushkeys.count {
            outcome.status = .failed
        } else if !outcome.rejected.isEmpty {
            outcome.status = .partial
        }
        return outcome
    }

    private static func ordered(_ outcomes: [Outcome], _ conduct: GatewayConduct) -> [Outcome] {
        switch conduct.order {
        case .asSubmitted: outcomes
        case .reversed: outcomes.reversed()
        case .sortedByID: outcomes.sorted { $0.id < $1.id }
        }
    }

    private static func write(_ outcome: Outcome, _ writer: inout Writer) {
        writer.object { writer in
            writer.member("id", outcome.id)
            writer.member("status", outcome.status.rawValue)
            if !outcome.rejected.isEmpty {
                writer.name("rejected")
                writer.array { writer in for pushkey in outcome.rejected { writer.string(pushkey) } }
            }
            if let error = outcome.error { writer.member("error", error) }
        }
    }

    private static func single(_ content: GatewayBodyReader.Content, _ conduct: GatewayConduct) -> Response {
        let rejected = content.items.flatMap(\.pushkeys).filter(conduct.deadPushkeys.contains)
        var writer = Writer()
        writer.object { writer in
            if !content.isWrapped { writer.member("status", "success") }
            guard content.isWrapped || !rejected.isEmpty else { return }
            writer.name("rejected")
            writer.array { writer in for pushkey in rejected { writer.string(pushkey) } }
        }
        return json(200, writer)
    }

    private static func json(_ status: Int, _ writer: Writer) -> Response {
        Response(
            status: status,
            headers: [HeaderField("content-type", "application/json")],
            body: writer.bytes
        )
    }
}
