internal import HTTPServer
internal import JSON

/// Answers as gematik's own gateway does: see ``GatewayManner/reference(knownApps:)``.
struct ReferenceAnswerWriter {
    let interface: GatewayInterface
    let knownApps: Set<String>?

    func outcomes(_ content: GatewayBodyReader.Content, _ conduct: GatewayConduct) -> [GatewayOutcome] {
        content.items.map { outcome($0, conduct) }
    }

    /// `rejected` and `error` are always there, empty or null, unless the conduct says otherwise.
    func answer(_ outcomes: [GatewayOutcome], _ conduct: GatewayConduct) -> Response {
        if case .single = interface {
            var writer = Writer()
            writer.object { writer in
                writer.name("rejected")
                writer.array { writer in
                    for pushkey in outcomes.flatMap(\.rejected) { writer.string(pushkey) }
                }
            }
            return GatewayAnswerWriter.json(200, writer)
        }
        return GatewayAnswerWriter.batch(outcomes, conduct) { outcome, writer in
            writer.object { writer in
                writer.member("id", outcome.id)
                writer.member("status", outcome.status.rawValue)
                writer.name("rejected")
                if conduct.unset == .null, outcome.rejected.isEmpty {
                    writer.null()
                } else {
                    writer.array { writer in for pushkey in outcome.rejected { writer.string(pushkey) } }
                }
                writer.name("error")
                if let error = outcome.error {
                    writer.string(error)
                } else if conduct.unset == .empty {
                    writer.string("")
                } else {
                    writer.null()
                }
            }
        }
    }

    private func outcome(_ item: ReadItem, _ conduct: GatewayConduct) -> GatewayOutcome {
        var outcome = GatewayOutcome(id: item.id ?? "")
        let isPlain = interface != .encryptedBatch
        outcome.rejected = item.pushkeys.filter(conduct.deadPushkeys.contains)
        let known = item.devices.filter { isKnown($0.app) }
        let reached = known.count { !conduct.deadPushkeys.contains($0.pushkey) }
        if reached == 0 {
            outcome.status = .failed
        } else if reached < item.devices.count {
            outcome.status = .partial
        }
        if known.count < item.devices.count {
            outcome.error = "The app is not known."
        } else if reached < item.devices.count || item.devices.isEmpty {
            outcome.error = isPlain ? "" : "The pushkey was rejected."
        }
        if let strange = conduct.strangeKeys[outcome.id] {
            outcome.status = .failed
            outcome.rejected += strange
            outcome.error = "The pushkey was rejected."
        }
        if let error = conduct.failures[outcome.id] {
            outcome.status = .failed
            outcome.error = error
        }
        return outcome
    }

    private func isKnown(_ app: String) -> Bool {
        if let knownApps { return knownApps.contains(app) }
        return (app.hasSuffix(".apns") && app.utf8.count > 5)
            || (app.hasSuffix(".firebase") && app.utf8.count > 9)
    }
}
