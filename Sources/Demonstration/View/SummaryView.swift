/// The end: what was owed and what came, in words and figures.
struct SummaryView {
    private let summary: DemoSummary
    private let figures: Figures
    private let isInterrupted: Bool

    init(_ summary: DemoSummary, _ figures: Figures, isInterrupted: Bool) {
        self.summary = summary
        self.figures = figures
        self.isInterrupted = isInterrupted
    }

    func lines(_ ink: Ink) -> [String] {
        func row(_ name: String, _ value: String, _ note: String, isGood: Bool? = nil) -> String {
            let number = value.trailing(11)
            let painted = isGood.map { $0 ? ink.good(number) : ink.bad(number) } ?? number
            return "    \(name.leading(15))\(painted)  \(ink.faint(note))"
        }
        let rate = Figures.rate(summary.opened, in: summary.duration)
        let percentiles = summary.latency
        let lines = [
            "",
            "  \(ink.bold("Summary"))\(isInterrupted ? ink.faint("  stopped by a signal; what was published until then") : "")",
            row(
                "triggers",
                Figures.grouped(summary.triggers),
                "\(Figures.grouped(figures.withoutSubscribers)) of them with nobody subscribed"
            ),
            row("notifications", Figures.grouped(summary.notifications), "one for each subscribed device"),
            row(
                "opened",
                Figures.grouped(summary.opened),
                "by the device it was for, with the right content"
            ),
            row("lost", Figures.grouped(summary.lost), lossNote, isGood: summary.lost == 0),
            row("duplicates", Figures.grouped(summary.duplicates), "", isGood: summary.duplicates == 0),
            row(
                "seconds",
                Figures.tenths(Figures.seconds(summary.duration)),
                "first trigger to last opened; \(Figures.grouped(rate)) a second"
            ),
            row("p50", percentiles.map { Figures.milliseconds($0.p50) } ?? "–", "from trigger to opened"),
            row("p99", percentiles.map { Figures.milliseconds($0.p99) } ?? "–", ""),
            "",
        ]
        return lines.map { $0.trimmingEnd } + [verdict(ink), ""]
    }

    private var lossNote: String {
        guard summary.lost > 0 else { return "" }
        return
            "\(Figures.grouped(figures.balance.unopened)) did not open, \(figures.deadLetters) dead letters"
    }

    private func verdict(_ ink: Ink) -> String {
        if summary.isFlawless {
            return "  \(ink.good("✓")) Each notification was opened once, and only where it should."
        }
        var faults: [String] = []
        if summary.lost > 0 { faults.append("\(Figures.grouped(summary.lost)) lost") }
        if summary.duplicates > 0 { faults.append("\(Figures.grouped(summary.duplicates)) opened twice") }
        if summary.strays > 0 { faults.append("\(Figures.grouped(summary.strays)) where they should not be") }
        return "  \(ink.bad("✗")) Not as promised: \(faults.joined(separator: ", "))."
    }
}

extension String {
    fileprivate var trimmingEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
