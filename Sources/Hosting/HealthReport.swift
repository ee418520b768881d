internal import JSON
package import Lanes

/// What the lanes of a process say of themselves at one moment, as an orchestrator asks for it.
package struct HealthReport: Sendable {
    private struct Entry: Sendable {
        let name: String
        let isAlive: Bool
        let sinceLastTurn: Duration
        /// Nil when the lane is ready.
        let reason: String?
    }

    private let entries: [Entry]
    private let isDraining: Bool

    /// - Parameters:
    ///   - statuses: The process's lanes.
    ///   - isDraining: Whether it was told to end.
    ///   - limit: A lane whose turn is older is stuck.
    ///   - now: The moment, in ``Monotonic`` nanoseconds.
    package init(_ statuses: [LaneStatus], isDraining: Bool, limit: Duration, now: Int64 = Monotonic.now()) {
        entries = statuses.map { status in
            let reason: String? =
                switch status.condition {
                case .ready: nil
                case .notReady(let reason): reason
                }
            return Entry(
                name: status.name,
                isAlive: status.isAlive(limit: limit, now: now),
                sinceLastTurn: status.sinceLastTurn(now: now),
                reason: reason
            )
        }
        self.isDraining = isDraining
    }

    /// Every lane turns; when not, only a restart helps.
    package var isAlive: Bool { entries.allSatisfy(\.isAlive) }

    /// Every lane does its work, and the process is not about to end.
    package var isReady: Bool { !isDraining && entries.allSatisfy { $0.reason == nil } }

    /// Why it is not ready: each reason once, in the order of the lanes.
    package var reasons: [String] {
        var result = isDraining ? ["draining"] : []
        for case let reason? in entries.map(\.reason) where !result.contains(reason) { result.append(reason) }
        return result
    }

    /// As in `{"status":"alive","lanes":[{"lane":"encrypt-0","alive":true,"seconds_since_turn":0.2}]}`.
    package func liveness() -> [UInt8] {
        var writer = Writer()
        writer.object { writer in
            writer.member("status", isAlive ? "alive" : "stuck")
            writer.name("lanes")
            writer.array { writer in
                for entry in entries {
                    writer.object { writer in
                        writer.member("lane", entry.name)
                        writer.member("alive", entry.isAlive)
                        writer.member(
                            "seconds_since_turn",
                            (entry.sinceLastTurn / .milliseconds(1)).rounded() / 1000
                        )
                    }
                }
            }
        }
        writer.endLine()
        return writer.bytes
    }

    /// As in `{"status":"not_ready","reasons":["database_away"],"lanes":[{"lane":"encrypt-0","ready":false,"reason":"database_away"}]}`.
    package func readiness() -> [UInt8] {
        var writer = Writer()
        writer.object { writer in
            writer.member("status", isReady ? "ready" : "not_ready")
            writer.name("reasons")
            writer.array { writer in
                for reason in reasons { writer.string(reason) }
            }
            writer.name("lanes")
            writer.array { writer in
                for entry in entries {
                    writer.object { writer in
                        writer.member("lane", entry.name)
                        writer.member("ready", entry.reason == nil)
                        if let reason = entry.reason { writer.member("reason", reason) }
                    }
                }
            }
        }
        writer.endLine()
        return writer.bytes
    }
}
