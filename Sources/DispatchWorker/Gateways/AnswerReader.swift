internal import HTTPClient
internal import Push

/// Turns what came back for a request into the engine's report: which record ended how.
struct AnswerReader {
    private let metrics: DispatchMetrics
    /// The records of the request at hand by id; filled only when an answer rejects a key.
    private var places: [NotificationID: Ticket] = [:]

    init(_ metrics: DispatchMetrics) {
        self.metrics = metrics
    }

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - response: whatever its status.
    ///   - batch: what was asked.
    ///   - format: in which it was sent.
    ///   - engine: has the records.
    ///   - now: when it came.
    /// - Returns: the outcome of the request or of each of its records.
    mutating func report(
        _ response: Response,
        to batch: OutboundBatch,
        _ format: NotificationFormat,
        _ engine: borrowing OutboundEngine<Outgoing>,
        _ now: Now
    ) -> BatchReport {
        let answer = GatewayAnswer(
            GatewayResponse(
                status: response.status,
                contentType: response.header("content-type"),
                retryAfter: response.header("retry-after"),
                body: response.body
            ),
            to: format,
            now: now.wall
        )
        let status = response.status
        switch answer {
        case .results(let results, let unreadable):
            metrics.anomaly(.unreadableResult, unreadable)
            return BatchReport(.answered(answers(results, batch, engine)), status: status)
        case .taken(let rejected):
            return BatchReport(.answered(single(rejected, batch, engine)), status: status)
        case .refused(let refusal):
            return BatchReport(
                .refused(ifAlone: refusal.reasonWhenAlone),
                status: status,
                detail: refusal.description
            )
        case .transient(let cause, let after):
            return BatchReport(.transient(cause, after: after), status: status, detail: "status \(status)")
        case .fault(let fault):
            return BatchReport(.fault(fault), status: status, detail: "status \(status)")
        }
    }

    /// What it means that there is no answer.
    ///
    /// Whether the records were sent is open, except where no connection was made.
    static func report(_ failure: Failure) -> BatchReport {
        let result: BatchResult =
            switch failure {
            case .refusedAddress: .fault(.forbiddenAddress)
            case .tlsHandshake, .unusableIdentity: .fault(.credential)
            case .timeout: .transient(.timeout)
            case .tooLarge, .malformed: .transient(.unreadableAnswer)
            case .resolve, .connect, .aborted, .other: .transient(.connection)
            }
        return BatchReport(result, detail: failure.description)
    }

    // MARK: - Items

    private mutating func answers(
        _ results: [ItemResult],
        _ batch: OutboundBatch,
        _ engine: borrowing OutboundEngine<Outgoing>
    ) -> [ItemAnswer] {
        places.removeAll(keepingCapacity: true)
        var answers: [ItemAnswer] = []
        answers.reserveCapacity(results.count)
        var unknown = 0
        for result in results {
            guard let id = NotificationID(text: result.id.span) else {
                unknown += 1
                continue
            }
            answers.append(ItemAnswer(id: id, outcome: outcome(result, id, batch, engine)))
        }
        metrics.anomaly(.unknownID, unknown)
        return answers
    }

    /// A key counts only if it is the one that this very item was sent for.
    private mutating func outcome(
        _ result: ItemResult,
        _ id: NotificationID,
        _ batch: OutboundBatch,
        _ engine: borrowing OutboundEngine<Outgoing>
    ) -> Outcome {
        guard result.rejected.count > 0 else { return result.outcome(pushkey: []) }
        if places.isEmpty {
            for ticket in batch.tickets {
                if let outgoing = engine.payload(of: ticket) { places[outgoing.id] = ticket }
            }
        }
        let pushkey = places[id].flatMap { engine.payload(of: $0)?.pushkey }
        let isOwn = pushkey.map { result.rejected.contains($0) } ?? false
        metrics.anomaly(.foreignKey, result.rejected.count - (isOwn ? 1 : 0))
        return result.outcome(pushkey: isOwn ? pushkey ?? [] : [])
    }

    private func single(
        _ rejected: RejectedKeys,
        _ batch: OutboundBatch,
        _ engine: borrowing OutboundEngine<Outgoing>
    ) -> [ItemAnswer] {
        batch.tickets.compactMap { ticket in
            guard let outgoing = engine.payload(of: ticket) else { return nil }
            let isOwn = rejected.count > 0 && outgoing.pushkey.map { rejected.contains($0) } ?? false
            metrics.anomaly(.foreignKey, rejected.count - (isOwn ? 1 : 0))
            return ItemAnswer(id: outgoing.id, outcome: isOwn ? .rejected : .accepted)
        }
    }
}
