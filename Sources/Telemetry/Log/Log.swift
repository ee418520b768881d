internal import Synchronization

/// The log of a process: one line an event, structured for machines or readable for people.
///
/// An event is named by a literal, so that lines can be counted and found, and so that nothing secret slips into it; what varies is in fields.
/// A value of this type is cheap to copy and to hand to a lane, with fields of its own added by ``with(_:)``.
/// No line holds up a lane for long: a storm of one event is cut down and counted (``LogLimiter``), and a reader that does not keep up loses lines, which are
/// counted too, instead of blocking who writes.
package struct Log: Sendable {
    package enum Level: String, CaseIterable, Sendable {
        case debug
        case info
        case warning
        case error
    }

    private let core: Core
    private let context: [LogField]

    /// - Parameters:
    ///   - level: Events below are not written.
    ///   - style: How a line looks.
    ///   - output: Where lines go; default standard error.
    ///   - clock: Gives the time; replaced in tests.
    ///   - metrics: Where lines and lost lines are counted; default nowhere.
    package init(
        level: Level,
        style: LogStyle,
        output: any LogOutput = DescriptorOutput.standardError,
        clock: LogClock = .system,
        metrics: Registry? = nil
    ) {
        core = Core(level: level, style: style, output: output, clock: clock, metrics: metrics)
        context = []
    }

    private init(core: Core, context: [LogField]) {
        self.core = core
        self.context = context
    }

    /// The same log, with these fields in every line.
    package func with(_ fields: LogFields) -> Log {
        Log(core: core, context: context + fields.map { LogField(name: $0.key, value: $0.value) })
    }

    package func debug(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.debug, event, fields)
    }

    package func info(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.info, event, fields)
    }

    package func warning(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.warning, event, fields)
    }

    package func error(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.error, event, fields)
    }

    /// Tells how many lines were held back since the last word about them; for a tick of about once a second, and for the end of the process.
    package func reportSuppressed() {
        let now = core.clock.monotonic()
        for (event, count) in core.limiter.withLock({ $0.drain(now: now) }) {
            core.emit(
                .warning,
                "log lines suppressed",
                context + [
                    LogField(name: "suppressed_event", value: .text(event)),
                    LogField(name: "count", value: .integer(count)),
                ]
            )
        }
    }

    private func write(_ level: Level, _ event: StaticString, _ fields: () -> LogFields) {
        guard level.rank >= core.level.rank else { return }
        let name = event.description
        if level != .debug {
            let now = core.clock.monotonic()
            guard core.limiter.withLock({ $0.admits(name, now: now) }) else { return }
        }
        core.emit(level, name, context + fields().map { LogField(name: $0.key, value: $0.value) })
    }
}

/// What copies of a log share.
private final class Core: Sendable {
    let level: Log.Level
    let clock: LogClock
    let limiter = Mutex(LogLimiter())
    private let style: LogStyle
    private let output: any LogOutput
    private let written: [Counter]
    private let lost: Counter?

    init(level: Log.Level, style: LogStyle, output: any LogOutput, clock: LogClock, metrics: Registry?) {
        self.level = level
        self.style = style
        self.output = output
        self.clock = clock
        written = Log.Level.allCases.compactMap { level in
            metrics?.counter(
                "posthorn_log_lines_total",
                help: "Log lines written, by level.",
                labels: ["level": level.rawValue]
            )
        }
        lost = metrics?.counter(
            "posthorn_log_lines_lost_total",
            help: "Log lines lost because their reader did not keep up."
        )
    }

    func emit(_ level: Log.Level, _ event: String, _ fields: [LogField]) {
        let line = LogLine(time: clock.wall(), level: level, event: event, fields: fields)
        if output.write(style.render(line)) {
            if !written.isEmpty { written[level.rank].increment() }
        } else {
            lost?.increment()
        }
    }
}

extension Log.Level {
    var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}
