internal import Kafka
internal import Lanes
internal import Push
internal import Sealing
internal import Simulation

/// A demonstration of the main job in one process, from its first step to the last.
///
/// ```
///   services ─▶ workers, devices registered meanwhile ─▶ both ready ─▶ events ─▶ all opened, or patience is over ─▶ stop in order ─▶ sum up
///                                                          └─ a signal: no more events, what is under way comes through
/// ```
///
/// What it tells is by books of its own (``Ledger``): which event is owed to which device is computed from what the devices registered, and
/// what arrived is compared with it. The workers' counters are only shown beside.
package struct DemoRun: ~Copyable {
    private let settings: DemoSettings
    private let signal: Int32
    private var screen: Screen
    private let ledger = Ledger()
    private let showcase = Showcase()
    private let book = LogBook()
    private let quiet: Event
    private var isInterrupted = false

    /// - Parameters:
    ///   - settings: what is demonstrated.
    ///   - screen: where it is shown.
    ///   - signal: a descriptor that becomes readable, and stays so, when the demonstration is to end.
    /// - Throws: ``LaneError`` when the system refuses a descriptor.
    package init(_ settings: DemoSettings, on screen: Screen, until signal: Int32) throws {
        self.settings = settings
        self.screen = screen
        self.signal = signal
        quiet = try Event()
    }

    /// Runs it and shows it.
    ///
    /// - Returns: how it came out; loss is a result and no error.
    /// - Throws: ``DemoError`` and the errors of the modules that it is made of, once everything is taken down.
    package mutating func run() throws -> DemoSummary {
        if let fault = Kafka.Configuration(settings.kafka).faults().first { throw fault }
        try screen.lines(Picture.lines(screen.ink))
        let inbox = try Inbox()
        var random = RandomSource()
        var bytes: [UInt8] = []
        try random.append(8, to: &bytes)
        let seed = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        var steps = Steps(screen, until: signal)
        var services = try Services(
            kafka: settings.kafka,
            prefix: "posthorn-demo-\(Hex.text(bytes.span))-",
            inbox: inbox,
            steps: &steps
        )
        let result = Result { try perform(&services, inbox, seed, &steps) }
        let left = services.close()
        if !left.isEmpty { try? screen.lines(["", "  These topics are still on the broker: \(left)"]) }
        if case .failure = result { try? screen.lines(book.lines.map { "  \($0)" }) }
        return try result.get()
    }

    private mutating func perform(
        _ services: inout Services,
        _ inbox: Inbox,
        _ seed: UInt64,
        _ steps: inout Steps
    ) throws -> DemoSummary {
        var workers = try Workers(services, log: book.log)
        try steps.begin("Devices")
        let population = try services.register(settings.devices)
        let script = Script(population, seed: seed)
        try steps.end(
            "\(Figures.grouped(population.devices.count)) of \(Figures.grouped(population.userCount)) users, each with a secret of its own"
        )
        try steps.begin("Workers")
        let start = try StopFlag()
        var play = try Play(services, workers, script, settings, inbox, ledger, showcase, start: start)
        try waitUntilReady(&workers, &play, steps)
        try steps.end("an encrypt and a dispatch lane have joined their groups")
        start.raise()
        try watch(&play, &workers, services)
        try play.source.end()
        try workers.encrypt.end()
        try workers.dispatch.end()
        _ = services.gateway.drain(within: .seconds(5))
        try play.devices.end()
        let summary = DemoSummary(ledger)
        try conclude(summary, workers, services, population)
        return summary
    }

    private func waitUntilReady(
        _ workers: inout Workers,
        _ play: inout Play,
        _ steps: borrowing Steps
    ) throws {
        let deadline = Monotonic.deadline(after: settings.startLimit)
        while !workers.areReady || !play.isReady {
            try workers.check()
            try play.check()
            try steps.pause(for: .milliseconds(20))
            if Monotonic.now() >= deadline { throw workers.complaint }
        }
    }

    // MARK: - Watching

    /// Shows how it goes until everything has come, or nothing comes any more.
    private mutating func watch(
        _ play: inout Play,
        _ workers: inout Workers,
        _ services: borrowing Services
    ) throws {
        var live = LiveView(events: settings.events, rate: settings.rate)
        var progress = Progress()
        try screen.lines([""])
        while true {
            let figures = figures(workers, services)
            let isPublished = play.source.phase == .finished
            try screen.show(&live, figures)
            if isPublished, figures.balance.underWay == 0, figures.received >= figures.balance.published {
                break
            }
            let patience = isInterrupted ? settings.patienceAfterSignal : settings.patience
            if progress.hasStalled(figures, for: patience) { break }
            try workers.check()
            try play.check()
            notice(play)
        }
        try screen.close(&live, figures(workers, services), ledger.duration)
    }

    /// Waits a moment, and tells the source to end if a signal comes meanwhile.
    private mutating func notice(_ play: borrowing Play) {
        // The signal's descriptor stays readable, so it is waited for but once.
        let descriptor = isInterrupted ? quiet.descriptor : signal
        let hasCome = Readiness.wait(
            for: descriptor,
            until: Monotonic.deadline(after: .milliseconds(50))
        )
        guard hasCome, !isInterrupted else { return }
        isInterrupted = true
        play.source.beginEnd()
    }

    private func figures(_ workers: borrowing Workers, _ services: borrowing Services) -> Figures {
        workers.figures(
            ledger.balance(),
            requests: services.gateway.counts.requests,
            at: Monotonic.now()
        )
    }

    // MARK: - The end

    private mutating func conclude(
        _ summary: DemoSummary,
        _ workers: borrowing Workers,
        _ services: borrowing Services,
        _ population: Population
    ) throws {
        if let exhibit = showcase.exhibit {
            let other = population.devices.indices.first { $0 != exhibit.device }.map {
                population.devices[$0]
            }
            let view = ExhibitView(exhibit, population, opensElsewhere: other.map { exhibit.opens(with: $0) })
            try screen.lines(view.lines(screen.ink))
        }
        let view = SummaryView(summary, figures(workers, services), isInterrupted: isInterrupted)
        try screen.lines(view.lines(screen.ink))
        if !summary.isFlawless { try screen.lines(book.lines.map { "  \($0)" }) }
    }
}

/// Notices that nothing comes any more.
private struct Progress {
    private var last: [Int] = []
    private var since = ContinuousClock.now

    mutating func hasStalled(_ figures: Figures, for patience: Duration) -> Bool {
        let now = [figures.balance.published, figures.received, figures.delivered, figures.balance.opened]
        if now != last {
            last = now
            since = .now
        }
        return ContinuousClock.now - since >= patience
    }
}
