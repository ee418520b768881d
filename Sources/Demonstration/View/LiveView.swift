/// The stages while they work: a table that is drawn again and again, or a line a second.
struct LiveView {
    private static let interval: Int64 = 100_000_000
    private static let lineInterval: Int64 = 1_000_000_000

    private let events: Int
    private let rate: Int
    private let start: Int64?
    private var history: [Figures] = []
    private var next: Int64 = 0
    /// Whether a line was written.
    fileprivate var hasWritten = false

    init(events: Int, rate: Int) {
        self.events = events
        self.rate = rate
        start = nil
    }

    /// Whether it is time to show something again.
    mutating func isDue(_ figures: Figures, onTerminal: Bool) -> Bool {
        note(figures)
        guard figures.time >= next else { return false }
        // Plain lines begin after the first second, when there is something to tell.
        let isFirst = next == 0
        next = figures.time + (onTerminal ? Self.interval : Self.lineInterval)
        return onTerminal || !isFirst
    }

    /// Keeps a second's figures, from which rates are taken.
    private mutating func note(_ figures: Figures) {
        history.append(figures)
        while history.count > 2, figures.time - history[1].time >= 1_000_000_000 { history.removeFirst() }
    }

    private func rate(_ figures: Figures, _ count: (Figures) -> Int) -> Int {
        guard let first = history.first, figures.time > first.time else { return 0 }
        return Figures.rate(count(figures) - count(first), in: .nanoseconds(figures.time - first.time))
    }

    // MARK: - On a terminal

    /// The table.
    ///
    /// - Parameters:
    ///   - figures: what to show.
    ///   - whole: how long it took; given at the end, when rates are those of the whole run.
    ///   - ink: colours.
    /// - Returns: the lines.
    func table(_ figures: Figures, over whole: Duration? = nil, _ ink: Ink) -> [String] {
        func row(
            _ stage: String,
            _ what: String,
            _ count: Int,
            _ counted: ((Figures) -> Int)? = nil
        ) -> String {
            var pace = ""
            if let counted {
                pace = Figures.grouped(
                    whole.map { Figures.rate(count, in: $0) } ?? rate(figures, counted)
                ).trailing(14)
            }
            return "  " + ink.bold(stage.leading(11)) + what.leading(36) + Figures.grouped(count).trailing(12)
                + ink.faint(pace)
        }
        let balance = figures.balance
        let heading = "".leading(11) + "".leading(36) + (whole == nil ? "so far" : "in all").trailing(12)
        return [
            bar(figures, ink),
            "",
            ink.faint("  " + heading + "a second".trailing(14)),
            row("service", "trigger events published", balance.published) { $0.balance.published },
            row("encrypt", "looked up", figures.received) { $0.received },
            row("", "nobody subscribed", figures.withoutSubscribers),
            row("", "sealed, one for each device", figures.sealed) { $0.sealed },
            row("", "key chains moved to this month", figures.chainsMoved),
            row("dispatch", "delivered in \(Figures.grouped(figures.requests)) requests", figures.delivered) {
                $0.delivered
            },
            row("devices", "opened", balance.opened) { $0.balance.opened },
            row("", "still on their way", balance.underWay),
            row("", "opened twice", balance.duplicates),
            latency(balance.recent, ink),
        ]
    }

    private func bar(_ figures: Figures, _ ink: Ink) -> String {
        let width = 30
        let done = Double(figures.balance.published) / Double(max(events, 1))
        let filled = min(width, Int(done * Double(width)))
        return "  " + ink.accent(String(repeating: "━", count: filled))
            + ink.faint(String(repeating: "─", count: width - filled))
            + "  \(Int(done * 100)) % of \(Figures.grouped(events)) events, \(Figures.grouped(rate)) a second"
    }

    private func latency(_ recent: Latencies.Percentiles?, _ ink: Ink) -> String {
        let text = recent.map { "p50 \(Figures.milliseconds($0.p50))   p99 \(Figures.milliseconds($0.p99))" }
        return "  \(ink.bold("latency".leading(11)))\("trigger to opened, the last 1,000".leading(36))"
            + (text ?? "–").trailing(26)
    }

    // MARK: - Elsewhere

    /// The same as one line.
    func line(_ figures: Figures) -> String {
        let balance = figures.balance
        var parts = [
            ("published", balance.published), ("sealed", figures.sealed), ("delivered", figures.delivered),
            ("opened", balance.opened),
        ].map { "\($0.0) \(Figures.grouped($0.1))" }
        parts.append("\(Figures.grouped(rate(figures) { $0.balance.opened }))/s")
        if let recent = balance.recent {
            parts.append("p50 \(Figures.milliseconds(recent.p50))")
            parts.append("p99 \(Figures.milliseconds(recent.p99))")
        }
        return "  " + parts.joined(separator: "  ")
    }
}

extension Screen {
    /// Shows how it goes, if it is time to.
    mutating func show(_ live: inout LiveView, _ figures: Figures) throws {
        guard live.isDue(figures, onTerminal: isTerminal) else { return }
        if isTerminal { return try redraw(live.table(figures, ink)) }
        try lines([live.line(figures)])
        live.hasWritten = true
    }

    /// Shows how it went.
    mutating func close(_ live: inout LiveView, _ figures: Figures, _ whole: Duration) throws {
        if isTerminal {
            try redraw(live.table(figures, over: whole, ink))
            keep()
        } else {
            try lines((live.hasWritten ? [""] : []) + live.table(figures, over: whole, ink))
        }
    }
}
