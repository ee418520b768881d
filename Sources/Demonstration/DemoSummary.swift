package import JSON

/// How a demonstration came out, by its own books.
package struct DemoSummary: Sendable, Equatable {
    /// Events published.
    package var triggers: Int
    /// What is owed for them: one for each event and device subscribed to it.
    package var notifications: Int
    /// Of those, opened at their device with the right content.
    package var opened: Int
    /// Opened again at a device that had opened it before.
    package var duplicates: Int
    /// Opened or received though nobody was owed it.
    package var strays: Int
    /// From the first event to the last opening.
    package var duration: Duration
    /// From trigger to opened; nil if nothing was opened.
    package var latency: Latencies.Percentiles?

    package var lost: Int { notifications - opened }

    /// Whether everything arrived, once, and only where it should.
    package var isFlawless: Bool { lost == 0 && duplicates == 0 && strays == 0 }

    init(_ ledger: Ledger) {
        let balance = ledger.balance()
        triggers = balance.published
        notifications = balance.owed
        opened = balance.opened
        duplicates = balance.duplicates
        strays = balance.strays
        duration = ledger.duration
        latency = ledger.percentiles
    }

    /// Writes the object that `posthorn demo --json` prints; a contract that others script against.
    package func write(to writer: inout Writer) {
        writer.object { writer in
            writer.member("triggers", triggers)
            writer.member("notifications", notifications)
            writer.member("opened", opened)
            writer.member("lost", lost)
            writer.member("duplicates", duplicates)
            writer.member("seconds", Figures.seconds(duration))
            // null, where there is nothing to take a percentile of.
            writer.member("p50_ms", latency?.p50 ?? .nan)
            writer.member("p99_ms", latency?.p99 ?? .nan)
        }
    }
}
